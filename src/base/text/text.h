#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

// The lines of a text without their ends (LF or CRLF). A last line without an end counts, an empty
// one after the last end does not. The views point into `text`.
std::vector<std::string_view> split_lines(std::string_view text);

// Without ASCII white space at either end.
std::string_view trim(std::string_view text);

// Fit for one line of a message: bytes that are control characters or not UTF-8 are written as
// \xNN, and what is longer than `max_bytes` (of input) is cut and ends in "...".
std::string printable(std::string_view text, std::size_t max_bytes = 120);

// The source line of a place in a text, with a caret under the column:
//    12 | grid = [x]
//       |         ^
// Line and column count from 1, columns in characters (UTF-8 code points). Long lines are cut
// around the column; column 0 (unknown) leaves the caret out. Empty where the text has no such
// line.
std::string source_excerpt(std::string_view text, int line, int column);

// For people: "17 B", "1.5 MiB" (powers of 1024), with at most one decimal.
std::string format_bytes(std::uint64_t bytes);
// For people: "850 ns", "12.3 us", "4.57 ms", "1.20 s", "3 min 20 s".
std::string format_duration(double seconds);

}  // namespace baton
