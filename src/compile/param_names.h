#pragma once

#include <optional>

#include "baton/compile.h"
#include "image/cubin/debug_params.h"

namespace baton::compiler {

// A source as PTX with debug information. That excludes optimisation, so it takes a compile of its
// own, which the cache keeps. Nothing for a source that does not compile so. `made` is the source
// without debug information.
std::optional<Image> debug_image(Source source, CompileOptions options, const Compiled& made);

// The parameters of a source's kernels and device functions, from the debug information of
// debug_image().
image::DebugParams debug_params(Source source, CompileOptions options, const Compiled& made);

// Whether a kernel of it has parameters whose types are not known, such as an extern "C" kernel
// without debug information.
bool lacks_types(const Compiled& compiled);

// Adds the names and types of parameters that this debug information has to the facts of the
// images. No other copies exist yet.
void take_debug_params(const Compiled& compiled, const image::DebugParams& params);

}  // namespace baton::compiler
