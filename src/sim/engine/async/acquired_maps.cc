#include "sim/engine/async/acquired_maps.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/engine/async/tensor_copy.h"
#include "sim/engine/judge/fence.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {

void AcquiredMaps::acquire(std::uint64_t address, const TensorMapBytes& bytes) {
  const auto found = std::find_if(maps_.begin(), maps_.end(),
                                  [&](const Map& map) { return map.address == address; });
  if (found == maps_.end()) {
    maps_.push_back({address, bytes});
  } else {
    found->bytes = bytes;
  }
}

AcquiredMaps::State AcquiredMaps::state_of(std::uint64_t address,
                                           const TensorMapBytes& bytes) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(),
                                  [&](const Map& map) { return map.address == address; });
  if (found == maps_.end()) return State::kNever;
  return found->bytes == bytes ? State::kCurrent : State::kChanged;
}

bool needs_acquire(std::uint64_t address) {
  return window_of(address) == window_number(kGlobalWindow) && !is_constant_address(address);
}

void check_acquired(Exec* x, const Insn* i, int lane, std::uint64_t address,
                    const TensorMapBytes& bytes) {
  if (!x->grid->watches_shared || !needs_acquire(address)) return;
  const AcquiredMaps::State state = x->block->async.maps.state_of(address, bytes);
  if (state == AcquiredMaps::State::kCurrent) return;
  report(x, i, lane, driver::FindingKind::kStaleTensorMap,
         fmt::format("copies by the tensor map in global memory at {:#x}, {}: the copy may take an "
                     "older map. Execute fence.proxy.tensormap::generic.acquire on it before, or "
                     "pass the map as a __grid_constant__ parameter",
                     address,
                     state == AcquiredMaps::State::kNever
                         ? "which no thread of the block acquired"
                         : "which changed after the block acquired it"));
}

const Insn* op_acquire_tensor_map(Exec* x, const Insn* i) {
  const auto* addresses = slot_at<std::uint64_t>(x, i->r[0]);
  for (std::uint32_t lanes = x->mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const std::optional<TensorMapBytes> bytes = read_map_bytes(x, i, lane, addresses[lane]);
    if (!bytes) return nullptr;
    if (needs_acquire(addresses[lane])) x->block->async.maps.acquire(addresses[lane], *bytes);
  }
  return op_fence(x, i);
}

}  // namespace baton::sim
