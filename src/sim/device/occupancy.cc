#include "sim/device/occupancy.h"

#include <utility>

namespace baton::sim {

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

int resident_clusters(const Profile& profile, const chip::BlockNeeds& needs, std::uint32_t size) {
  const int blocks = resident_blocks(profile, needs);
  int clusters = 0;
  const auto groups = profile.sm_groups();
  for (const int sms : groups) {
    // One of several takes clusters of no more blocks than it has SMs, however many an SM holds.
    if (groups.size() > 1 && std::cmp_less(sms, size)) continue;
    clusters += sms * blocks / static_cast<int>(size);
  }
  return clusters;
}

}  // namespace baton::sim
