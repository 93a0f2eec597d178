#include "sim/engine/async/async_state.h"

#include "sim/engine/run/state.h"

namespace baton::sim {

void AsyncState::clear() {
  mbarriers.clear();
  warps.clear();
  arriving.clear();
  leaving.clear();
  maps.clear();
  wgmma.clear();
  arrivals = 0;
}

WarpAsync& warp_async(BlockState& block, std::uint32_t warp) {
  AsyncState& async = block.async;
  if (async.warps.empty()) async.warps.resize(block.warps.size());
  return async.warps[warp];
}

}  // namespace baton::sim
