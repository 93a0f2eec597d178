#include "sim/engine/run/workspace.h"

#include <array>
#include <utility>

namespace baton::sim {
namespace {

// cooperative_groups/details/sync.h keeps two words there: the workspace's size and the barrier.
constexpr std::array<std::uint32_t, 2> kFresh = {2 * sizeof(std::uint32_t), 0};

}  // namespace

Workspaces::Hold::Hold(Hold&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), address_(std::exchange(other.address_, 0)) {}

Workspaces::Hold& Workspaces::Hold::operator=(Hold&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(address_, other.address_);
  return *this;
}

Workspaces::Hold::~Hold() {
  if (address_ == 0) return;
  std::lock_guard lock(owner_->mutex_);
  owner_->free_.push_back(address_);
}

Workspaces::Hold Workspaces::take() {
  std::lock_guard lock(mutex_);
  std::uint64_t address = 0;
  if (!free_.empty()) {
    address = free_.back();
    free_.pop_back();
  } else {
    address = memory_.allocate(sizeof kFresh);
  }
  if (address != 0) memory_.write(address, kFresh.data(), sizeof kFresh);
  return Hold(this, address);
}

}  // namespace baton::sim
