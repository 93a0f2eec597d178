#include "tools/draft/draft_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

namespace baton::tools {
namespace {

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool has_any(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

bool is_inner(std::string_view name) {
  constexpr std::string_view kWords[] = {"width", "col"};
  const std::string lower = lower_case(name);
  return has_any(lower, kWords) || lower == "w" || lower == "nx";
}

bool is_outer(std::string_view name) {
  constexpr std::string_view kWords[] = {"height", "row"};
  const std::string lower = lower_case(name);
  return has_any(lower, kWords) || lower == "h" || lower == "ny";
}

}  // namespace

bool sounds_like_a_size(std::string_view name) {
  constexpr std::string_view kSizes[] = {"size", "len",  "count", "total", "elem",
                                         "dim",  "rows", "cols",  "width", "height"};
  constexpr std::string_view kLetters[] = {"m", "k", "w", "h"};
  const std::string lower = lower_case(name);
  return lower.starts_with('n') || has_any(lower, kSizes) ||
         std::ranges::find(kLetters, lower) != std::end(kLetters);
}

bool sounds_like_a_choice(std::string_view name) {
  constexpr std::string_view kChoices[] = {"seed", "level", "step", "iter",
                                           "flag", "axis",  "epoch"};
  const std::string lower = lower_case(name);
  return !sounds_like_a_size(name) && (has_any(lower, kChoices) || lower == "mode");
}

std::string DraftSize::along(int axis, int axes) const {
  if (symbols.size() == 1) return symbols[0];
  if (symbols.size() == 2 && axes == 2) {
    for (const int inner : {0, 1}) {
      const std::string& other = symbols[1 - inner];
      if (is_inner(symbols[inner]) && is_outer(other)) return axis == 0 ? symbols[inner] : other;
    }
  }
  return fmt::format("max({})", fmt::join(symbols, ", "));
}

}  // namespace baton::tools
