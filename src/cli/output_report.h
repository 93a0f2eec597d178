#pragma once

#include <vector>

#include "cli/output.h"
#include "tools/comparison.h"

namespace baton::cli {

// The outputs of a run and how they compare with what was expected, as a table and as JSON, and of
// each one that differs, how it does.
void show_outputs(const std::vector<tools::OutputResult>& results, Output& output);

}  // namespace baton::cli
