#pragma once

#include <vector>

#include "baton/compile.h"
#include "image/cubin/debug_params.h"

namespace baton::compiler {

// The parameters of a source's kernels and device functions, from its debug information. That
// excludes optimisation, so it takes a compile to PTX of its own, which the cache keeps. A source
// that does not compile so has none.
image::DebugParams debug_params(Source source, CompileOptions options);

// Their names alone, of kernels.
std::vector<ParamNames> param_names(const Source& source, const CompileOptions& options);

}  // namespace baton::compiler
