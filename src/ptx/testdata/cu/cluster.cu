// Clusters and distributed shared memory.
// targets: sm_90 sm_90a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbours(int* out) {
  __shared__ int own[32];
  cg::cluster_group cluster = cg::this_cluster();
  own[threadIdx.x] = cluster.block_rank() * 100 + threadIdx.x;
  cluster.sync();
  int* other = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks());
  out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
  atomicAdd(cluster.map_shared_rank(own, 0), 1);
  cluster.barrier_arrive();
  cluster.barrier_wait();
}
extern "C" __global__ void __launch_bounds__(128, 1, 8) bounded(int* out) { out[0] = 1; }
