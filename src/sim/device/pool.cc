#include "sim/device/pool.h"

#include <algorithm>

namespace baton::sim {

bool SimPool::take(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (state_.largest != 0 && bytes > state_.largest - std::min(state_.used, state_.largest)) {
    return false;
  }
  state_.used += bytes;
  state_.used_high = std::max(state_.used_high, state_.used);
  state_.reserved = std::max(state_.reserved, state_.used);
  state_.reserved_high = std::max(state_.reserved_high, state_.reserved);
  return true;
}

void SimPool::give(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  state_.used -= bytes;
  state_.reserved = std::max(state_.used, std::min(state_.reserved, state_.release_threshold));
}

void SimPool::trim(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  state_.reserved = std::max(state_.used, std::min(state_.reserved, bytes));
}

}  // namespace baton::sim
