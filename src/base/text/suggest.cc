#include "base/text/suggest.h"

#include <algorithm>
#include <cstddef>

namespace baton {
namespace {

// Longer names are not typed by hand; comparing them would cost the product of their lengths.
constexpr std::size_t kMaxLength = 64;
constexpr std::size_t kMaxListed = 16;

// Letters of the other case, and dashes for underscores, are not a difference worth counting.
char fold(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

// The least number of insertions, deletions, substitutions and swaps of neighbours that turn `a`
// into `b`, no place being edited twice (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::size_t rows[3][kMaxLength + 1];
  std::size_t* before_last = rows[0];
  std::size_t* last = rows[1];
  std::size_t* row = rows[2];
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = fold(a[i - 1]) == fold(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > kMaxLength) return {};
  std::string_view best;
  std::size_t best_distance = kMaxLength + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxLength) continue;
    const std::size_t found = distance(name, candidate);
    const std::size_t longer = std::max(name.size(), candidate.size());
    // A third of the letters may be wrong, but never all of them.
    if (found <= (longer + 2) / 3 && found < longer && found < best_distance) {
      best = candidate;
      best_distance = found;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  if (const std::string_view near = nearest(name, candidates); !near.empty()) {
    return "; did you mean \"" + std::string(near) + "\"?";
  }
  if (candidates.empty()) return {};
  std::string text = "; known: ";
  for (std::size_t i = 0; i < std::min(candidates.size(), kMaxListed); ++i) {
    if (i > 0) text += ", ";
    text += candidates[i];
  }
  if (candidates.size() > kMaxListed) {
    text += " and " + std::to_string(candidates.size() - kMaxListed) + " more";
  }
  return text;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return suggestion(name, std::span<const std::string_view>(views));
}

}  // namespace baton
