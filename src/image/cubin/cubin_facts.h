#pragma once

#include "baton/image.h"

namespace baton::image {

// What a cubin says about its kernels and variables (src/image/cubin/cubin.h reads the file).
// Throws kInvalidInput where it is not a readable ELF file; whatever else is wrong costs facts and
// a remark.
ImageFacts read_cubin_facts(const Image& image);

}  // namespace baton::image
