// What launch attributes bring about, made visible.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each block writes its rank in its cluster and the cluster's size.
__device__ void write_ranks(unsigned* rank, unsigned* size) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned r, n;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  if (threadIdx.x == 0) {
    rank[block] = r;
    size[block] = n;
  }
}

extern "C" __global__ void cluster_ranks(unsigned* rank, unsigned* size) {
  write_ranks(rank, size);
}

extern "C" __global__ void __cluster_dims__(16) cluster_of_16(unsigned* rank, unsigned* size) {
  write_ranks(rank, size);
}

#if __CUDACC_VER_MAJOR__ >= 13
// The driver counts the grids of such a kernel in clusters.
extern "C" __global__ void __block_size__((32, 1, 1), (2, 1, 1))
    block_and_cluster(unsigned* rank, unsigned* size) {
  write_ranks(rank, size);
}
#endif

// Every block adds up what all blocks of its cluster have in shared memory.
extern "C" __global__ void cluster_sum(unsigned* sum) {
  __shared__ unsigned mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x + 1;
  cluster.sync();
  if (threadIdx.x == 0) {
    unsigned total = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) total += *cluster.map_shared_rank(&mine, r);
    sum[blockIdx.x] = total;
  }
  cluster.sync();
}

// All blocks see what all blocks wrote before the barrier.
extern "C" __global__ void grid_sum(unsigned* values, unsigned* sum) {
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) values[blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  if (threadIdx.x == 0) {
    unsigned total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += values[b];
    sum[blockIdx.x] = total;
  }
}

// data[i] = data[i] * 3 + 1 after waiting for the grid before.
extern "C" __global__ void step(unsigned* data, unsigned n) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 3 + 1;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Cluster, grid barrier and wait in one kernel.
extern "C" __global__ void everything(unsigned* values, unsigned* sum) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) values[blockIdx.x] = cluster.num_blocks();
  cg::this_grid().sync();
  if (threadIdx.x == 0) {
    unsigned total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += values[b];
    sum[blockIdx.x] = total;
  }
}
