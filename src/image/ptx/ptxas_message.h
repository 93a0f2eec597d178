#pragma once

#include <optional>
#include <string_view>

namespace baton::image {

// What ptxas, also that of a driver, says of a line of PTX. The views point into the text.
struct PtxasMessage {
  int line = 0;               // from 1
  std::string_view severity;  // "error", "fatal", "warning"
  std::string_view message;
};

// "ptxas application ptx input, line 12; error   : message"; nothing for any other line.
std::optional<PtxasMessage> parse_ptxas_message(std::string_view text);

}  // namespace baton::image
