#pragma once

#include <string>
#include <vector>

#include "baton/program.h"
#include "program/expression/scope.h"

namespace baton {

// One warning for each kernel, buffer and symbol that nothing uses: "p.toml:3:1: the symbol N is
// never used". `scope` checked all steps of the program.
std::vector<std::string> warnings_about(const ProgramDefinition& program,
                                        const ProgramScope& scope);

}  // namespace baton
