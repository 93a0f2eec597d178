#pragma once

#include "compile/cache/path_table.h"
#include "compile/nvrtc/program.h"
#include "compile/request.h"
#include "compile/source/hidden_code.h"

namespace baton::compiler {

// What a successful compile gave.
struct Compilation {
  Attempt made;
  HiddenCode hidden;  // what the compiler did not see of the sources
};

// Compiles as the source is, and where that fails, with what the errors say is missing: the
// declarations for host code, a header, and at last without the host code that cannot be read. The
// entries that the compiler cannot find are looked for among the kernels of the result. Throws
// kCompile with the errors of the attempt that had the fewest.
Compilation compile_source(const Nvrtc& nvrtc, const Request& request, const PathTable& paths);

}  // namespace baton::compiler
