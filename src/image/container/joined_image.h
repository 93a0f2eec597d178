#pragma once

#include <optional>
#include <string>

#include "image/container/fatbin_wrapper.h"

namespace baton::image {

// Machine code that nvlink made of several objects has no PTX. Gives that code with the joined PTX
// of the objects inside, where the objects have PTX of its architecture and of no other; nothing
// else.
std::optional<std::string> joined_image(const FatbinWrapper& wrapper);

}  // namespace baton::image
