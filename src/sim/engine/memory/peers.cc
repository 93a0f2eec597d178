// Memory of other devices that kernels of this one may access.

#include <algorithm>
#include <mutex>
#include <utility>

#include "sim/engine/memory/address.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

using Snapshot = DeviceMemory::Impl::Snapshot;

// Memory of the host is in every part; the first part's counts.
std::shared_ptr<const Snapshot> join(const std::vector<std::shared_ptr<const Snapshot>>& parts) {
  auto made = std::make_shared<Snapshot>();
  for (const auto& part : parts) {
    for (std::size_t k = 0; k < part->regions.size(); ++k) {
      if (part != parts.front() && is_host_address(part->regions[k].base)) continue;
      made->regions.push_back(part->regions[k]);
      made->backings.push_back(part->backings[k]);
    }
  }
  std::sort(made->regions.begin(), made->regions.end(),
            [](const Region& a, const Region& b) { return a.base < b.base; });
  return made;
}

}  // namespace

bool DeviceMemory::add_peer(const std::shared_ptr<DeviceMemory>& peer) {
  std::unique_lock lock(impl_->mutex);
  std::erase_if(impl_->peers, [](const auto& each) { return each.expired(); });
  for (const auto& each : impl_->peers) {
    if (each.lock() == peer) return false;
  }
  impl_->peers.push_back(peer);
  return true;
}

bool DeviceMemory::remove_peer(const DeviceMemory& peer) {
  std::unique_lock lock(impl_->mutex);
  return std::erase_if(impl_->peers,
                       [&](const auto& each) { return each.lock().get() == &peer; }) != 0;
}

DeviceMemory::Impl::Peers DeviceMemory::Impl::present_peers() const {
  std::shared_lock lock(mutex);
  Peers present;
  for (const auto& each : peers) {
    if (std::shared_ptr<DeviceMemory> peer = each.lock()) present.push_back(std::move(peer));
  }
  return present;
}

std::shared_ptr<DeviceMemory> DeviceMemory::Impl::peer_of(std::uint64_t address) const {
  for (std::shared_ptr<DeviceMemory>& peer : present_peers()) {
    if (peer->impl().has_window(address)) return std::move(peer);
  }
  return nullptr;
}

// Peers take their own locks, so this one's is not held meanwhile.
std::shared_ptr<const Snapshot> DeviceMemory::Impl::snapshot() {
  const Peers others = present_peers();
  std::shared_ptr<const Snapshot> own = own_snapshot();
  if (others.empty()) return own;
  std::vector<std::shared_ptr<const Snapshot>> parts = {std::move(own)};
  for (const auto& peer : others) parts.push_back(peer->impl().own_snapshot());
  std::unique_lock lock(mutex);
  if (parts != joined_from) {
    joined = join(parts);
    joined_from = std::move(parts);
  }
  return joined;
}

}  // namespace baton::sim
