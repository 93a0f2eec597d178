#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::compiler {

// The files that the line table of machine code (.debug_line, DWARF 2 to 4) names, each with its
// folder. Empty where there is no such table, or none that can be read.
std::vector<std::string> line_table_files(std::string_view cubin);

// The machine code with those files renamed, for debuggers and profilers. Where no name changes, or
// something is not as NVIDIA's compilers write it, the bytes stay as they are.
std::string with_line_table_files(std::string cubin,
                                  const std::function<std::string(std::string_view)>& rename);

}  // namespace baton::compiler
