#pragma once

#include <cstdint>

#include "sim/engine/judge/ordering.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/memory/memory.h"
#include "sim/engine/report/findings.h"

namespace baton::sim {

// A copy or a fill, or the end of an allocation (which counts as a write of all of it): checks the
// range against what was noted, and notes it.
void watch_host(DeviceMemory& memory, FindingLog& log, Ordering::Number number,
                std::uint64_t address, std::uint64_t bytes, AccessKind touch);

}  // namespace baton::sim
