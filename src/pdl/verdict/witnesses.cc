#include "pdl/verdict/witnesses.h"

#include <algorithm>
#include <tuple>

#include "pdl/footprint/footprint.h"

namespace baton::overlap {
namespace {

using Extents = std::array<std::uint32_t, 3>;

constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 18;        // for one launch
constexpr std::uint64_t kMaxThreadSteps = std::uint64_t{1} << 14;  // for one thread
constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kMostWarps = 32;
constexpr std::uint32_t kMaxBlockThreads = 1024;  // of the first block

Extents index_of(std::uint64_t number, const Extents& extents) {
  const std::uint64_t x = std::max(extents[0], 1u), y = std::max(extents[1], 1u);
  return {static_cast<std::uint32_t>(number % x), static_cast<std::uint32_t>(number / x % y),
          static_cast<std::uint32_t>(number / x / y)};
}

std::uint64_t count_of(const Extents& extents) {
  return std::uint64_t{std::max(extents[0], 1u)} * std::max(extents[1], 1u) *
         std::max(extents[2], 1u);
}

std::vector<ThreadPosition> positions(const LaunchExtents& extents) {
  const std::uint64_t threads = count_of(extents.block), blocks = count_of(extents.grid);
  std::vector<ThreadPosition> result;
  for (const std::uint64_t b : {std::uint64_t{0}, blocks - 1}) {
    for (const std::uint64_t t : {std::uint64_t{0}, threads - 1}) {
      result.push_back({index_of(t, extents.block), index_of(b, extents.grid)});
    }
  }
  for (std::uint64_t t = 1; t < std::min<std::uint64_t>(threads, 3); ++t) {
    result.push_back({index_of(t, extents.block), {}});
  }
  for (std::uint64_t warp = 1; warp < kMostWarps && warp * kWarp < threads; ++warp) {
    result.push_back({index_of(warp * kWarp, extents.block), {}});
  }
  for (std::uint64_t t = 3; t < std::min<std::uint64_t>(threads, kMaxBlockThreads); ++t) {
    if (t % kWarp != 0) result.push_back({index_of(t, extents.block), {}});
  }
  return result;
}

}  // namespace

Witnesses::Witnesses(const Footprint& footprint, std::span<const GivenArgument> arguments,
                     const LaunchExtents& extents, const VariableNumber& variable,
                     std::uint64_t& steps) {
  std::uint64_t left = std::min(steps, kMaxSteps);
  steps -= left;
  for (const ThreadPosition& thread : positions(extents)) {
    std::uint64_t own = std::min(left, kMaxThreadSteps);
    if (own == 0) break;
    left -= own;
    walk_certainly(footprint, arguments, extents, thread, variable, own, accesses_);
    left += own;
  }
  steps += left;
}

std::vector<CertainAccess> Witnesses::of(const AccessGroup& group) const {
  std::vector<CertainAccess> found;
  for (const CertainAccess& access : accesses_) {
    if (std::ranges::binary_search(group.operations, access.operation)) found.push_back(access);
  }
  std::ranges::sort(found, {}, [](const CertainAccess& access) {
    return std::tuple(access.memory, access.begin, access.end);
  });
  return found;
}

bool Witnesses::has(const AccessGroup& group, MemoryId memory) const {
  return std::ranges::any_of(of(group),
                             [&](const CertainAccess& access) { return access.memory == memory; });
}

bool Witnesses::meets(const AccessGroup& own, const Witnesses& others, const AccessGroup& other,
                      bool unordered) const {
  const std::vector<CertainAccess> theirs = others.of(other);
  // Accesses of one group are about as long as each other: only few begin before one that meets.
  std::uint64_t longest = 0;
  for (const CertainAccess& access : theirs) longest = std::max(longest, access.end - access.begin);
  return std::ranges::any_of(of(own), [&](const CertainAccess& access) {
    if (unordered && !access.unordered) return false;
    const std::uint64_t from = access.begin > longest ? access.begin - longest : 0;
    auto at = std::ranges::lower_bound(
        theirs, std::tuple(access.memory, from), {},
        [](const CertainAccess& each) { return std::tuple(each.memory, each.begin); });
    for (; at != theirs.end() && at->memory == access.memory && at->begin < access.end; ++at) {
      if (at->end > access.begin) return true;
    }
    return false;
  });
}

}  // namespace baton::overlap
