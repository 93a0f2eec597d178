#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/finding.h"
#include "record/events.h"
#include "record/judge.h"

namespace baton::tools {

// A finding of a record that is not about an edge: a row of observations.inc.
enum class Observation {
#define BATON_OBSERVATION(name, id, meaning) name,
#include "tools/process/observations.inc"
#undef BATON_OBSERVATION
};
std::string_view to_string(Observation observation);

struct ObservedProcess {
  // The name of a driver's result: "CUDA_ERROR_ILLEGAL_ADDRESS".
  std::function<std::string(int)> result_name;
  // The program ran with CUDA_LAUNCH_BLOCKING: each launch had ended when its call returned.
  bool blocking = false;
};

// The findings of a recorded process: launches over unsafe edges, and, as warnings, over unknown
// ones; refused launches; the first fault, with the launches that had not ended. Threads and blocks
// are not known.
std::vector<FindingReport> record_findings(const record::ProcessRecord& process,
                                           const record::RecordJudgement& judged,
                                           const ObservedProcess& observed);

}  // namespace baton::tools
