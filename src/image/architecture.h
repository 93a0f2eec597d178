#pragma once

#include <optional>
#include <string_view>

namespace baton::image {

// "sm_90a": what an image is for. The suffix `a` stands for one architecture alone, `f` for a
// family: the same major version from that minor version on.
struct Architecture {
  int number = 0;   // 90: major * 10 + minor
  char suffix = 0;  // 'a', 'f' or 0

  int major() const { return number / 10; }
  int minor() const { return number % 10; }
};

// Reads "sm_90a" and "compute_90a"; nothing for anything else.
std::optional<Architecture> parse_architecture(std::string_view text);

}  // namespace baton::image
