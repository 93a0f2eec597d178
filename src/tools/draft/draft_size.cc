#include "tools/draft/draft_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
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

bool is_depth(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower.find("depth") != std::string::npos || lower == "d" || lower == "nz";
}

// The axis that a name has; nothing for others.
std::optional<int> named_axis(std::string_view name) {
  if (is_inner(name)) return 0;
  if (is_outer(name)) return 1;
  if (is_depth(name)) return 2;
  return std::nullopt;
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
  // All of them have an axis, each another one.
  std::vector<std::string> by_axis(axes);
  for (const std::string& symbol : symbols) {
    const std::optional<int> own = named_axis(symbol);
    if (own && *own < axes) by_axis[*own] = symbol;
  }
  const bool is_told = symbols.size() == by_axis.size() &&
                       std::ranges::none_of(by_axis, [](const auto& each) { return each.empty(); });
  if (is_told) return by_axis[axis];
  return fmt::format("max({})", fmt::join(symbols, ", "));
}

}  // namespace baton::tools
