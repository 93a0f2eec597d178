#pragma once

#include <string>

namespace baton::sim {

// The PTX text of an image as cuLibraryLoadData takes it: an address without a size, so the image
// itself says where it ends. Text must end in a NUL. Of a fatbin, compressed or not, it is the
// newest PTX for at most the architecture (90 for sm_90). Throws Error: kUnsupported for an image
// that holds machine code only, kInvalidInput for one that is none.
std::string ptx_of_image(const void* code, int architecture);

// The machine code of such an image that a GPU of the architecture would run; empty where it has
// none. Throws Error(kInvalidInput) for a fatbin that does not unpack.
std::string cubin_of_image(const void* code, int architecture);

}  // namespace baton::sim
