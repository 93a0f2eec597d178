#pragma once

#include <array>
#include <string_view>

namespace baton {

// What a program file calls the values of the enumerations of baton/program.h, in their order.
inline constexpr std::array<std::string_view, 5> kRoleNames = {"input", "weight", "output", "inout",
                                                               "scratch"};
inline constexpr std::array<std::string_view, 6> kInitNames = {"none",   "zeros",  "ones",
                                                               "arange", "random", "file"};
inline constexpr std::array<std::string_view, 5> kOriginNames = {"source", "text", "ptx", "cubin",
                                                                 "fatbin"};
inline constexpr std::array<std::string_view, 4> kPdlNames = {"auto", "on", "off", "force"};
inline constexpr std::array<std::string_view, 6> kRewriteNames = {"off",   "auto", "wait",
                                                                  "loads", "exit", "top"};
inline constexpr std::array<std::string_view, 2> kPlacementNames = {"any", "even"};

}  // namespace baton
