#include "image/architecture.h"

#include <charconv>

namespace baton::image {

std::optional<Architecture> parse_architecture(std::string_view text) {
  if (text.starts_with("sm_")) {
    text.remove_prefix(3);
  } else if (text.starts_with("compute_")) {
    text.remove_prefix(8);
  } else {
    return std::nullopt;
  }
  Architecture out;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (code != std::errc{} || out.number < 10 || out.number > 999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text == "a" || text == "f") {
    out.suffix = text[0];
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return out;
}

}  // namespace baton::image
