#pragma once

#include <string>

namespace baton::cli {

// The blocks of a trace by multiprocessors as an SVG element: a row for each, a bar for each launch
// that has blocks there, and over it the time in which they wait. Empty without blocks.
std::string sm_picture(const std::string& trace);

}  // namespace baton::cli
