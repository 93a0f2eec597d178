#pragma once

#include <string_view>

namespace baton::driver {

// What findings advise to callers of the driver. A program that Baton plays has other means, so
// that whoever knows the program says those instead.
inline constexpr std::string_view kOrderGrids =
    "let the later one's stream wait for an event of the earlier one's";

}  // namespace baton::driver
