#pragma once

#include <cstdint>

#include "driver/simulator.h"
#include "sim/engine/judge/ordering.h"
#include "sim/engine/judge/shadow.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {

// What findings say of two accesses of the same bytes that nothing orders.

// One of the two: which operation it was of, who it was, and what it did.
struct AccessParty {
  Ordering::Number number = 0;
  Toucher toucher;
  bool writes = false;
};

// The kind of what is wrong between the two, both by name, and what to do. `one` accesses now.
// `is_narrow`: a flag would have ordered them, but for its scope.
driver::Finding pair_finding(const DeviceMemory& memory, const AccessParty& one,
                             const AccessParty& other, std::uint64_t address, std::uint32_t bytes,
                             bool is_narrow = false);

// `one` loads in a non-coherent way what `other` writes: the same grid, or one that only a wait or
// a flag orders before it.
driver::Finding noncoherent_finding(const DeviceMemory& memory, const AccessParty& one,
                                    const AccessParty& other, std::uint64_t address,
                                    std::uint32_t bytes);

// A grid is launched as a dependent and its kernel cannot wait.
driver::Finding no_wait_finding(const std::string& name, const DecodedKernel& kernel);

}  // namespace baton::sim
