// What an address is, and how findings and faults tell it.

#include <fmt/core.h>

#include <mutex>

#include "sim/engine/memory/address.h"
#include "sim/engine/memory/memory.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

constexpr std::uint64_t kNullPage = 4096;

// An address of no memory that the device has.
std::string outside_text(std::uint64_t address) {
  if (window_of(address) != window_number(kGlobalWindow)) {
    return "an address that no memory of this device has";
  }
  return fmt::format(
      "memory of the device of ordinal {}, to which this device has no access: call "
      "cuCtxEnablePeerAccess",
      (address - kGlobalWindow) >> kOrdinalShift);
}

std::string name_of(std::uint64_t base, const DeviceMemory::Impl::Allocation& allocation) {
  return range_text(allocation.name, base, allocation.size);
}

}  // namespace

std::string range_text(std::string_view name, std::uint64_t base, std::uint64_t bytes) {
  if (name.empty()) return fmt::format("an allocation of {} bytes at {:#x}", bytes, base);
  if (name.back() == ')') {
    name.remove_suffix(1);
    return fmt::format("{}, {} bytes at {:#x})", name, bytes, base);
  }
  return fmt::format("{} ({} bytes at {:#x})", name, bytes, base);
}

bool DeviceMemory::Impl::is_near_mapped(std::uint64_t address) const {
  const auto found = before(address);
  return found != allocations.end() && is_host_address(found->first) &&
         address - found->first < found->second.size + kNullPage;
}

AddressKind DeviceMemory::Impl::classify(std::uint64_t address) const {
  if (address < kNullPage) return AddressKind::kNull;
  if (const auto peer = peer_of(address)) return peer->impl().classify(address);
  std::shared_lock lock(mutex);
  if (is_host_address(address) && !is_near_mapped(address)) return AddressKind::kHost;
  const auto found = before(address);
  if (found == allocations.end()) return AddressKind::kNone;
  if (address - found->first >= found->second.size) return AddressKind::kNone;
  if (found->second.parts != nullptr) return found->second.parts->classify(address - found->first);
  return found->second.backing == nullptr ? AddressKind::kFreed : AddressKind::kLive;
}

std::string DeviceMemory::Impl::describe(std::uint64_t address) const {
  if (address == 0) return "the null pointer";
  if (address < kNullPage) return fmt::format("{} bytes past the null pointer", address);
  std::shared_lock lock(mutex);
  if (is_host_address(address)) {
    if (!is_near_mapped(address)) return "a host pointer";
  } else if (!has_window(address)) {
    lock.unlock();
    if (const auto peer = peer_of(address)) return peer->describe(address);
    return outside_text(address);
  }
  const auto found = nearest(address);
  if (found == allocations.end()) return "global memory that was never allocated";
  const auto& [base, allocation] = *found;
  const std::string name = name_of(base, allocation);
  if (address < base) return fmt::format("{} bytes before {}", base - address, name);
  const std::uint64_t offset = address - base;
  if (allocation.parts != nullptr) return allocation.parts->describe(base, offset);
  const bool is_inside = offset < allocation.size;
  return fmt::format("{} bytes {} {}{}", is_inside ? offset : offset - allocation.size,
                     is_inside ? "inside" : "past the end of", name,
                     allocation.backing == nullptr ? ", which was freed" : "");
}

DeviceMemory::Impl::Allocations::const_iterator DeviceMemory::Impl::nearest(
    std::uint64_t address) const {
  const auto below = before(address);
  const auto above = allocations.upper_bound(address);
  if (below == allocations.end() || above == allocations.end()) {
    return below == allocations.end() ? above : below;
  }
  const std::uint64_t end = below->first + below->second.size;
  return address >= end && above->first - address < address - end ? above : below;
}

}  // namespace baton::sim
