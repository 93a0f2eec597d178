#pragma once

#include <string>
#include <vector>

#include "baton/program.h"

namespace baton {

// One warning for each folder in a kernel's `include` that is not there: "p.toml:8:1: the include
// folder inc of kernel k is not there". Compilers pass over such folders, so a wrong name shows as
// a header that is not found, or as another header of that name.
std::vector<std::string> missing_folder_warnings(const ProgramDefinition& program);

}  // namespace baton
