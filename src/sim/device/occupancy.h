#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "chip/occupancy.h"
#include "sim/device/profile.h"

namespace baton::sim {

// How many threads a block of such a kernel can have before a multiprocessor runs out of registers.
std::uint32_t threads_by_registers(const Profile& profile, std::uint32_t registers);

// How many such blocks a multiprocessor holds at once; 0 where not even one fits.
int resident_blocks(const Profile& profile, const chip::BlockNeeds& needs);

// Multiprocessors of a device, by number; null: all of them.
using SmList = std::shared_ptr<const std::vector<std::uint32_t>>;

// How many clusters of `size` such blocks these multiprocessors hold at once; 0 where not even one
// fits. The blocks of a cluster share one graphics processing cluster (GPC), that is a group of
// SMs.
int resident_clusters(const Profile& profile, const chip::BlockNeeds& needs, std::uint32_t size,
                      const SmList& sms = nullptr);

}  // namespace baton::sim
