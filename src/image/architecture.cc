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

std::optional<std::uint32_t> shared_per_block_optin(int number) {
  struct Row {
    int number;
    std::uint32_t kibibytes;
  };
  constexpr Row kRows[] = {{70, 96},   {72, 96},  {75, 64},  {80, 163},  {86, 99},
                           {87, 163},  {89, 99},  {90, 227}, {100, 227}, {103, 227},
                           {110, 227}, {120, 99}, {121, 99}};
  for (const Row& row : kRows) {
    if (row.number == number) return row.kibibytes * 1024;
  }
  return std::nullopt;
}

}  // namespace baton::image
