#pragma once

#include <optional>
#include <string_view>

#include "baton/image.h"

namespace baton::image {

// Decides by the bytes alone what an image is. PTX: after white space and comments comes
// `.version`; cubin: ELF for the machine EM_CUDA (190); fatbin: 0xBA55ED50. Throws kInvalidInput
// saying what the bytes are instead, where that can be told.
ImageKind sniff(std::string_view bytes, std::string_view name);
// The same without a message about other bytes.
std::optional<ImageKind> kind_of(std::string_view bytes);

// After white space and comments comes `.version`.
bool starts_with_ptx_version(std::string_view text);

}  // namespace baton::image
