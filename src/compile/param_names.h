#pragma once

#include "baton/compile.h"
#include "image/cubin/debug_params.h"

namespace baton::compiler {

// The parameters of a source's kernels and device functions, from its debug information. That
// excludes optimisation, so it takes a compile to PTX of its own, which the cache keeps. A source
// that does not compile so has none. `made` is the source without debug information.
image::DebugParams debug_params(const Source& source, const CompileOptions& options,
                                const Compiled& made);

// Which compiled kernels get the names and types of parameters from debug information.
enum class DescribedKernels {
  kAll,
  kWithoutTypes,  // those of a source with a kernel whose types nothing else tells, such as an
                  // extern "C" one
};

// Compiles, and adds the names and types of parameters to the facts of the images. Where the text
// lets expect it, the compile for them runs beside the other one, in a thread of its own.
Compiled compile_described(const Source& source, CompileOptions options, DescribedKernels which);

}  // namespace baton::compiler
