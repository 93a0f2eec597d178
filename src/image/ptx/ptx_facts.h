#pragma once

#include "baton/image.h"

namespace baton::image {

// What PTX says about its kernels and variables: parameters in natural alignment, types from the
// demangled name, then from the use in the body; static shared memory, waits and triggers of
// everything the kernel can reach by direct calls. A body that does not parse costs the facts that
// come from it, and a remark. Throws kInvalidInput where the module itself does not parse.
ImageFacts read_ptx_facts(const Image& image);

}  // namespace baton::image
