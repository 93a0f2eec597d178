#pragma once

#include <vector>

#include "baton/executable.h"
#include "cli/output/output.h"

namespace baton::cli {

// Prints what the edges of a traced run cost, and puts it into the JSON object as "trace". Does
// nothing for a run whose kernels were not instrumented.
void show_traced(const RunReport& report, const std::vector<Executable::KernelModule>& modules,
                 bool is_simulated, Output& output);

}  // namespace baton::cli
