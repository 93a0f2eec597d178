#pragma once

#include <vector>

#include "ptx/ast.h"

namespace baton::ptx {

// The calls that the code of a `.loc` of the module was inlined at, from the inside out. A `.loc`
// names one call. The `.loc` of that call comes before it in the function, and names the next one.
// Parses the body of the function that has the `.loc`.
std::vector<Loc::Inlined> inlined_places(const ParsedModule& module, const Loc& loc);

}  // namespace baton::ptx
