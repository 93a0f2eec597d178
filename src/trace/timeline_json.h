#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "driver/simulator.h"
#include "trace/timeline.h"

namespace baton::trace {

// The timeline as JSON of the Trace Event Format, with the rows of the simulated GPU's own one
// (base/trace_events.h). Steps that were not traced lie between their neighbours, where those have
// times. `names`: by the number of the step. `multiprocessors`: of the device. Blocks of launches
// beyond a bound are left out.
std::string timeline_json(const RunTimeline& timeline,
                          const std::map<std::uint64_t, driver::TracedLaunch>& names,
                          std::uint32_t multiprocessors);

}  // namespace baton::trace
