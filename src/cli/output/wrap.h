#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace baton::cli {

// Columns on a terminal: one for every UTF-8 code point, none for colours.
std::size_t width_of(std::string_view text);
// The bytes of the first `width` characters of a text without colours.
std::size_t bytes_of(std::string_view text, std::size_t width);
// The words between blanks.
std::vector<std::string_view> words_of(std::string_view text);
// The text in lines of at most `width` columns. A word stays whole unless it is longer than a line,
// and so does a number with its unit.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
// One line outside of tables, "ceiling  2.4 TB/s, read and written", with line ends where it is too
// long. What follows a label stays beside it; other lines go on two columns further in. All words
// stay whole, so that paths can be copied.
std::string wrapped_line(std::string_view line, std::size_t width);

}  // namespace baton::cli
