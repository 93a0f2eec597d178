#pragma once

#include <cstdint>

#include "sim/device/profile.h"

namespace baton::sim {

// What a block takes of a multiprocessor.
struct BlockNeeds {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;     // a thread
  std::uint64_t shared_bytes = 0;  // static and dynamic
};

// How many threads a block of such a kernel can have before a multiprocessor runs out of registers.
std::uint32_t threads_by_registers(const Profile& profile, std::uint32_t registers);

// How many such blocks a multiprocessor holds at once; 0 where not even one fits. Rules of the CUDA
// occupancy calculator for compute capability 9.0: registers are given out a warp in units of 256,
// evenly to the four partitions of an SM; shared memory in units of 128 bytes, with the bytes that
// the driver reserves for each block.
int resident_blocks(const Profile& profile, const BlockNeeds& needs);

// How many clusters of `size` such blocks the device holds at once; 0 where not even one fits. The
// blocks of a cluster share one graphics processing cluster (GPC), that is a group of SMs.
int resident_clusters(const Profile& profile, const BlockNeeds& needs, std::uint32_t size);

}  // namespace baton::sim
