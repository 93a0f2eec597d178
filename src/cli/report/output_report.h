#pragma once

#include <vector>

#include "cli/output/output.h"
#include "tools/measure/comparison.h"

namespace baton::cli {

// The outputs of a run and how they compare with what was expected, as a table and as JSON, and of
// each one that differs, how it does.
void show_outputs(const std::vector<tools::OutputResult>& results, Output& output);

// How to find the step that made the first NaN or infinity, where an output has some that are
// not expected.
void show_non_finite_outputs(const std::vector<tools::OutputResult>& results, Output& output);

}  // namespace baton::cli
