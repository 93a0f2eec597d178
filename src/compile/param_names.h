#pragma once

#include "baton/compile.h"
#include "image/cubin/debug_params.h"

namespace baton::compiler {

// The parameters of a source's kernels and device functions, from its debug information. That
// excludes optimisation, so it takes a compile to PTX of its own, which the cache keeps. A source
// that does not compile so has none. `made` is the source without debug information.
image::DebugParams debug_params(Source source, CompileOptions options, const Compiled& made);

// Whether a kernel of it has parameters whose types are not known, such as an extern "C" kernel
// without debug information.
bool lacks_types(const Compiled& compiled);

// Adds the names and types of parameters that this debug information has to the facts of the
// images. No other copies exist yet.
void take_debug_params(const Compiled& compiled, const image::DebugParams& params);

}  // namespace baton::compiler
