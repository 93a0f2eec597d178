// Cooperative groups: tiles, coalesced groups, grid synchronisation, reduce.
// targets: sm_80 sm_90
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_wide(float* data, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) data[i] *= 2;
  grid.sync();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const float sum = cg::reduce(tile, data[block.thread_rank()], cg::plus<float>());
  if (tile.thread_rank() == 0) data[tile.meta_group_rank()] = sum;
  if (data[0] > 0) {
    auto active = cg::coalesced_threads();
    data[1] = active.size();
  }
}
