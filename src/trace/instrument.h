#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/ast.h"

namespace baton::trace {

struct InstrumentedKernel {
  std::string kernel;    // its symbol
  std::string obstacle;  // why it is left as it is, else empty
};

struct Instrumented {
  std::shared_ptr<const ptx::ParsedModule> module;  // null where all kernels are left as they are
  std::vector<InstrumentedKernel> kernels;          // in the module's order
};

// Rewrites the kernels of a module so that each block notes when it begins, waits, triggers and
// ends: a BlockRecord at index `block` of the array whose address is a further, last parameter
// (image::kTraceParameter). With 0 there nothing is noted.
//
// The first thread of a block notes its beginning. All else is noted by one lane of each warp, as a
// maximum over the warps, without waiting for memory. Nothing else of the kernel changes: its own
// parameters, registers, memory, directives and labels stay, and lines in the text too.
//
// A kernel is left as it is where the records would not be whole or its callers would not know of
// the parameter: a function that it calls waits, triggers or exits, or cannot be seen; its name is
// used elsewhere in the module. The result is read again; what cannot be read is an obstacle. Work
// and memory are linear in the text.
Instrumented instrument(const std::shared_ptr<const ptx::ParsedModule>& module);

}  // namespace baton::trace
