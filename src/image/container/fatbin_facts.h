#pragma once

#include "baton/image.h"

namespace baton::image {

// What a fatbin says: the kernels of all its members, each by the machine code for the newest
// architecture that has it, with the types that the PTX tells. Throws kInvalidInput where no member
// can be read.
ImageFacts read_fatbin_facts(const Image& image);

}  // namespace baton::image
