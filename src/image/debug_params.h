#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/ast.h"

namespace baton::image {

// The names of functions' parameters in the source, by the functions' symbols, from the debug
// information (DWARF) of PTX that was compiled with -G. An unnamed parameter has an empty name.
// Nothing where there is no debug information, or where it has a form that no compiler of PTX
// writes.
using DebugParams = std::unordered_map<std::string, std::vector<std::string>>;
DebugParams debug_params(const ptx::ParsedModule& module);

}  // namespace baton::image
