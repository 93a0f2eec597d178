#pragma once

#include <memory>
#include <span>
#include <string>

#include "ptx/ast.h"

namespace baton::image {

// Joins modules into the PTX of one, as a device linker joins their machine code:
// - what one module declares .extern and another defines is one function or variable;
// - of .weak definitions of one name one remains, and a .visible one comes before them;
// - names that only their own module sees are changed where another module has them too;
// - arrays of dynamic shared memory remain apart, and all begin at its start.
// The debug information of -G is left out; line tables remain.
// Throws kCompile, with the modules and the symbol, for two definitions of a name, for a name that
// no module defines, for a declaration that does not fit its definition, and for targets that do
// not go together. Throws kInvalidInput where a body does not parse. Thread-safe.
std::string link_ptx(std::span<const std::shared_ptr<const ptx::ParsedModule>> modules);

// "scale(float)" of _Z5scalef; other names as they are.
std::string readable_symbol(std::string_view symbol);

}  // namespace baton::image
