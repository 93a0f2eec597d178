// Kernels of the findings corpus (corpus.cc): small programs, right and wrong. `i` is the thread's
// number in the grid, `t` in its block; every array has N elements, one a thread.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_device_runtime_api.h>

#include <cassert>

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#define WAIT cudaGridDependencySynchronize()
#define TRIGGER cudaTriggerProgrammaticLaunchCompletion()
#define KERNEL extern "C" __global__ void
#define INDEX                                          \
  const int t = threadIdx.x;                           \
  const int i = blockIdx.x * blockDim.x + threadIdx.x; \
  (void)t;                                             \
  (void)i

#include "pair_kernels.cuh"
#include "warp_kernels.cuh"
#include "async_copy_kernels.cuh"
#include "barrier_kernels.cuh"
#include "cluster_kernels.cuh"
#include "memory_kernels.cuh"
#include "async_kernels.cuh"
#include "flag_kernels.cuh"
#include "grid_flag_kernels.cuh"
#include "lane_kernels.cuh"
#include "noncoherent_kernels.cuh"
#include "pattern_kernels.cuh"
#include "peer_kernels.cuh"
#include "stage_pattern_kernels.cuh"
#include "chain_kernels.cuh"
#include "wgmma_kernels.cuh"
