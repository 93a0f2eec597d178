#pragma once

#include "baton/compile.h"

namespace baton::compiler {

// Whether the source's options ask for relocatable code (-rdc=true), which cannot be loaded before
// it is linked. `baton::compile` gives the PTX of such a source and no machine code.
bool is_relocatable(const Source& source);

// Compiles a source as one of several that are linked, and keeps the relocatable machine code.
// Throws what `compile` throws.
Compiled compile_relocatable(const Source& source, const CompileOptions& options);

}  // namespace baton::compiler
