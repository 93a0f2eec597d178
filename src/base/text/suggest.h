#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

// The candidate nearest to `name` by edit distance (Damerau-Levenshtein, with transpositions), or
// nothing where none is near enough to be a likely slip of the pen.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

// "; did you mean \"candidate\"?" where one is near, else "; known: a, b, c", else nothing.
// For the end of a message about an unknown name.
std::string suggestion(std::string_view name, std::span<const std::string_view> candidates);
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace baton
