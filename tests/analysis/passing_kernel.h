#pragma once

#include <cstdint>
#include <string>

namespace baton::record {

// A kernel with the parameters of number_kernel(), and functions that it calls. Addresses come as
// whole parameters, fields and halves, also from beyond a parameter's end. They pass functions,
// local memory and variables. Some calls cannot be followed, and barriers come after them.
std::string passing_kernel(std::uint64_t seed, const std::string& name);

// What passing kernels of one module share: variables and functions.
std::string passing_functions();

}  // namespace baton::record
