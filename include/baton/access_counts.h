#pragma once

#include <cstdint>

namespace baton {

// The accesses of memory by the loads, stores and atomic operations of launches, as the simulated
// GPU counts them. Asynchronous copies, matrix loads and local memory are not among them.
struct AccessCounts {
  std::uint64_t global_requests = 0;  // instructions of warps that access global memory
  std::uint64_t global_sectors = 0;   // the 32-byte sectors that each request touches, summed
  std::uint64_t shared_requests = 0;  // instructions of warps that access shared memory
  // The passes over its 32 banks of 4 bytes, and those of them that only bank conflicts cause.
  std::uint64_t shared_passes = 0;
  std::uint64_t shared_conflicts = 0;

  AccessCounts& operator+=(const AccessCounts& other) {
    global_requests += other.global_requests;
    global_sectors += other.global_sectors;
    shared_requests += other.shared_requests;
    shared_passes += other.shared_passes;
    shared_conflicts += other.shared_conflicts;
    return *this;
  }
};

}  // namespace baton
