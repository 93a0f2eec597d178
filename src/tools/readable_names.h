#pragma once

#include <string>
#include <string_view>

namespace baton::tools {

// The text with every mangled C++ name as it is written in the source, without parameters:
// "kernel _Z7rmsnormIfEvPKT_PS0_if, block …" becomes "kernel rmsnorm<float>, block …".
std::string with_readable_names(std::string_view text);

}  // namespace baton::tools
