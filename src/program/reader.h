#pragma once

#include <string>
#include <vector>

#include "baton/program.h"
#include "program/table_reader.h"

namespace baton {

// The parts of a program file, as ProgramDefinition takes them: types and keys are checked here,
// names and values by Program's constructor.

// Messages call the steps by `prefix` and their number: "step 3", and inside a group "step 3.0".
std::vector<ProgramStep> read_steps(const Document& document, const DocumentNode& steps,
                                    const std::string& prefix);

}  // namespace baton
