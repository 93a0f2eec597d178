#pragma once

#include <string>
#include <vector>

#include "baton/report.h"
#include "cli/output/table.h"

namespace baton::cli {

// The parts of the SMs that launches run on, as a table after an empty line. Without parts,
// nothing.
std::string format_sm_parts(const std::vector<SmPartReport>& parts, const Terminal& terminal);

}  // namespace baton::cli
