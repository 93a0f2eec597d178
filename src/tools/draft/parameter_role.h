#pragma once

#include <string_view>

#include "baton/image.h"
#include "image/ptx/ptx_use.h"

namespace baton::tools {

// The role that a program file gives to the buffer of a pointer: "input", "output" or "inout". A
// null `use` stands for a kernel whose code tells nothing.
std::string_view role_of(const ParamFacts& param, const image::ParamUse* use);

}  // namespace baton::tools
