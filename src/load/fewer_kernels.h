#pragma once

#include <set>
#include <string>
#include <string_view>

namespace baton::load {

// The PTX without the kernels that are not `wanted`, by symbol: the same text where there are none.
// Throws Error(kInvalidInput) where it does not parse.
std::string with_kernels(std::string_view ptx, const std::string& name,
                         const std::set<std::string, std::less<>>& wanted);

}  // namespace baton::load
