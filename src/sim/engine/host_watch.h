#pragma once

#include <cstdint>

#include "sim/engine/findings.h"
#include "sim/engine/memory.h"
#include "sim/engine/ordering.h"
#include "sim/engine/watch.h"

namespace baton::sim {

// A copy or a fill, or the end of an allocation (which counts as a write of all of it): holds the
// range against what was noted, and notes it.
void watch_host(DeviceMemory& memory, FindingLog& log, Ordering::Number number,
                std::uint64_t address, std::uint64_t bytes, Touch touch);

}  // namespace baton::sim
