#pragma once

// Everything that the analysis of a program says, as text.

#include <vector>

#include "analysis/recorded_program.h"
#include "analysis/section.h"

namespace baton::record {

// The sections are the same for every program, in one order.
std::vector<Section> analysis_of(const RecordedProgram& program);

}  // namespace baton::record
