#pragma once

#include <optional>

#include "baton/compile.h"
#include "image/cubin/debug_params.h"

namespace baton::compiler {

// A source as PTX with debug information. That excludes optimisation, so it takes a compile of its
// own, which the cache keeps. Nothing for a source that does not compile so. `made` is the source
// without debug information.
std::optional<Image> debug_image(const Source& source, const CompileOptions& options,
                                 const Compiled& made);

// The parameters of a source's kernels and device functions, from the debug information of
// debug_image().
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
