#include "sim/engine/memory/launch_ranges.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace baton::sim {
namespace {

using Snapshot = DeviceMemory::Impl::Snapshot;
using Range = driver::LaunchNote::Range;
using Extent = std::pair<std::uint64_t, std::uint64_t>;  // first and last address, exclusive

// An empty range may begin where its allocation ends.
const Region* region_around(const Snapshot& all, const Range& range) {
  const Region* const region = all.find(range.address);
  return region == nullptr && range.bytes == 0 ? all.find(range.address - 1) : region;
}

// Extents that overlap are joined; those that only touch are not.
void add_parts(const Region& region, std::vector<Extent> extents, std::vector<Region>& parts) {
  std::sort(extents.begin(), extents.end());
  std::optional<Extent> open;
  for (const Extent& extent : extents) {
    if (extent.first == extent.second) continue;
    if (open && extent.first < open->second) {
      open->second = std::max(open->second, extent.second);
      continue;
    }
    if (open) parts.push_back(part_of(region, open->first, open->second));
    open = extent;
  }
  if (open) parts.push_back(part_of(region, open->first, open->second));
}

std::uint64_t distance(const Range& range, std::uint64_t address) {
  if (address < range.address) return range.address - address;
  const std::uint64_t offset = address - range.address;
  return offset < range.bytes ? 0 : offset - range.bytes + 1;
}

std::string place_text(const Range& range, std::uint64_t address) {
  const std::string name = range_text(range.name, range.address, range.bytes);
  if (address < range.address) {
    return fmt::format("{} bytes before {}", range.address - address, name);
  }
  const std::uint64_t offset = address - range.address;
  return offset < range.bytes
             ? fmt::format("{} bytes inside {}", offset, name)
             : fmt::format("{} bytes past the end of {}", offset - range.bytes, name);
}

// The allocation that is the nearest to the address: its start and size; 0 and 0 for none.
Extent nearest_allocation(const DeviceMemory::Impl& memory, std::uint64_t address) {
  std::shared_lock lock(memory.mutex);
  const auto found = memory.nearest(address);
  return found == memory.allocations.end() ? Extent{} : Extent{found->first, found->second.size};
}

}  // namespace

std::shared_ptr<const Snapshot> restrict_to(const Snapshot& all, std::span<const Range> ranges) {
  std::map<const Region*, std::vector<Extent>> extents;
  for (const Range& range : ranges) {
    const Region* const region = region_around(all, range);
    if (region == nullptr) continue;
    const std::uint64_t left = region->size - (range.address - region->base);
    extents[region].push_back({range.address, range.address + std::min(range.bytes, left)});
  }
  auto made = std::make_shared<Snapshot>();
  made->backings = all.backings;
  made->regions.reserve(all.regions.size() + ranges.size());
  for (const Region& region : all.regions) {
    const auto restricted = extents.find(&region);
    if (restricted == extents.end()) {
      made->regions.push_back(region);
    } else {
      add_parts(region, std::move(restricted->second), made->regions);
    }
  }
  return made;
}

std::string describe(const DeviceMemory& memory, const driver::LaunchNote* note,
                     std::uint64_t address) {
  const std::string whole = memory.describe(address);
  if (note == nullptr || note->ranges.empty()) return whole;
  const auto peer = memory.impl().peer_of(address);
  const auto [base, bytes] =
      nearest_allocation(peer != nullptr ? peer->impl() : memory.impl(), address);
  const Range* nearest = nullptr;
  for (const Range& range : note->ranges) {
    if (range.address < base || range.address - base > bytes) continue;
    if (nearest == nullptr || distance(range, address) < distance(*nearest, address)) {
      nearest = &range;
    }
  }
  if (nearest == nullptr) return whole;
  const std::string text = place_text(*nearest, address);
  const bool is_whole = nearest->address == base && nearest->bytes == bytes;
  return distance(*nearest, address) == 0 || is_whole ? text : text + ", " + whole;
}

}  // namespace baton::sim
