#pragma once

#include <string>
#include <string_view>

#include "baton/error.h"

namespace baton::image {

// The text with every mangled C++ name as it is written in the source, without parameters:
// "kernel _Z7rmsnormIfEvPKT_PS0_if, block …" becomes "kernel rmsnorm<float>, block …".
std::string with_readable_names(std::string_view text);

// The error with such names in its message and notes.
Error with_readable_names(const Error& error);

}  // namespace baton::image
