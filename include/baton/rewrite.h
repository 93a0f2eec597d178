#pragma once

#include <vector>

#include "baton/export.h"
#include "baton/image.h"
#include "baton/kernel_module.h"
#include "baton/program.h"

namespace baton {

// PTX with PDL added to its kernels.
struct RewrittenPtx {
  Image image;                         // the given one if no kernel was changed
  std::vector<KernelRewrite> kernels;  // one for each kernel, under its symbol
};

// Adds a PDL wait to each kernel of PTX that has none, and by `mode` a trigger too; see RewriteMode
// and docs/pdl.md. No launch is known here, so no kernel reads memory before its wait, not even
// weights: a program's own rewriting may put waits later. Thread-safe. Throws kInvalidInput for
// another image than PTX for sm_90 or later, for PTX that cannot be read, and for kOff and kAuto.
BATON_API RewrittenPtx rewrite(const Image& ptx, RewriteMode mode);

}  // namespace baton
