#include "sim/device/occupancy.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace baton::sim {
namespace {

constexpr std::uint32_t kRegisterUnit = 256;
constexpr std::uint32_t kPartitions = 4;
constexpr std::uint64_t kSharedUnit = 128;

std::uint32_t ceil_div(std::uint32_t value, std::uint32_t by) {
  return (value + by - 1) / by;
}

// Warps that the register file holds.
std::uint32_t warps_by_registers(const Profile& profile, std::uint32_t registers) {
  const auto file =
      static_cast<std::uint32_t>(profile.at(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  const auto warp = static_cast<std::uint32_t>(profile.at(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  const std::uint32_t per_warp =
      ceil_div(std::max(registers, 1u) * warp, kRegisterUnit) * kRegisterUnit;
  return file / kPartitions / per_warp * kPartitions;
}

// SMs of each group that a cluster's blocks can share. Those of a chip with 132 SMs are what the
// answers of cuOccupancyMaxActiveClusters on an H200 (driver 580.159, sizes 1 to 16, one to eight
// blocks an SM) add up from: eight GPCs, and four pairs of SMs that belong to none. Which SMs of a
// chip are fused off differs from one to the next, and so may these. Smaller devices have one GPC.
std::vector<int> groups_of(const Profile& profile) {
  const int sm_count = profile.at(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (sm_count == 132) return {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
  return {sm_count};
}

}  // namespace

std::uint32_t threads_by_registers(const Profile& profile, std::uint32_t registers) {
  return warps_by_registers(profile, registers) *
         static_cast<std::uint32_t>(profile.at(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
}

int resident_blocks(const Profile& profile, const BlockNeeds& needs) {
  auto limit = [&](CUdevice_attribute attribute) {
    return static_cast<std::uint32_t>(profile.at(attribute));
  };
  if (needs.threads == 0 || needs.threads > limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) ||
      needs.shared_bytes > limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)) {
    return 0;
  }
  const std::uint32_t warp = limit(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  const std::uint32_t warps = ceil_div(needs.threads, warp);
  const std::uint32_t by_warps =
      limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / warp / warps;
  const std::uint32_t by_registers = warps_by_registers(profile, needs.registers) / warps;
  const std::uint64_t shared =
      needs.shared_bytes + limit(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  const std::uint64_t shared_taken = (shared + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  const auto by_shared = static_cast<std::uint32_t>(
      limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / shared_taken);
  return static_cast<int>(std::min({limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                                    by_warps, by_registers, by_shared}));
}

int resident_clusters(const Profile& profile, const BlockNeeds& needs, std::uint32_t size) {
  const int blocks = resident_blocks(profile, needs);
  int clusters = 0;
  const std::vector<int> groups = groups_of(profile);
  for (const int sms : groups) {
    // One of several takes clusters of no more blocks than it has SMs, however many an SM holds.
    if (groups.size() > 1 && std::cmp_less(sms, size)) continue;
    clusters += sms * blocks / static_cast<int>(size);
  }
  return clusters;
}

}  // namespace baton::sim
