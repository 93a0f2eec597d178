#include "sim/device/occupancy.h"

#include <algorithm>
#include <utility>

namespace baton::sim {
namespace {

// How many of the multiprocessors are in each GPC. The numbers of a GPC follow one another.
std::vector<int> groups_of(const Profile& profile, const SmList& sms) {
  std::vector<int> groups(profile.sm_groups().begin(), profile.sm_groups().end());
  if (sms == nullptr) return groups;
  std::uint32_t first = 0;
  for (int& group : groups) {
    const std::uint32_t end = first + static_cast<std::uint32_t>(group);
    group = static_cast<int>(
        std::ranges::count_if(*sms, [&](std::uint32_t sm) { return first <= sm && sm < end; }));
    first = end;
  }
  return groups;
}

}  // namespace

std::uint32_t threads_by_registers(const Profile& profile, std::uint32_t registers) {
  const chip::Multiprocessor& sm = profile.chip().multiprocessor;
  return static_cast<std::uint32_t>(chip::warps_by_registers(sm, registers)) * sm.warp_size;
}

int resident_blocks(const Profile& profile, const chip::BlockNeeds& needs) {
  const chip::Chip& chip = profile.chip();
  if (needs.threads == 0 || needs.threads > chip.threads_per_block ||
      needs.shared > chip.shared_per_block_optin) {
    return 0;
  }
  return static_cast<int>(chip::fit_beside(chip.multiprocessor, {}, needs).blocks);
}

int resident_clusters(const Profile& profile, const chip::BlockNeeds& needs, std::uint32_t size,
                      const SmList& sm_list) {
  const int blocks = resident_blocks(profile, needs);
  int clusters = 0;
  const std::vector<int> groups = groups_of(profile, sm_list);
  for (const int sms : groups) {
    // One of several takes clusters of no more blocks than it has SMs, however many an SM holds.
    if (groups.size() > 1 && std::cmp_less(sms, size)) continue;
    clusters += sms * blocks / static_cast<int>(size);
  }
  return clusters;
}

}  // namespace baton::sim
