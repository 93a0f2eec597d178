#pragma once

#include <string>

namespace baton::sim {

// The PTX text of an image as cuLibraryLoadData takes it: an address without a size, so the image
// itself says where it ends. Text must end in a NUL. Throws Error(kInvalidInput) for an image that
// has no PTX (a cubin holds machine code only) or that is none.
std::string ptx_of_image(const void* code);

}  // namespace baton::sim
