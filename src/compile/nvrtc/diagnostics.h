#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/error.h"

namespace baton::compiler {

// One message of the compiler.
struct Diagnostic {
  enum class Severity { kError, kWarning, kRemark, kNote };
  Severity severity = Severity::kError;
  SourceLocation where;  // the column is 0 where the compiler does not show it
  std::string message;
  std::string excerpt;  // the source line and its caret, one a line; may be empty
  int ptx_line = 0;     // of the assembler's, in the PTX; 0 where it is not such a message
  std::vector<std::string> details;  // candidates, instantiation stacks, notes

  // "norm.cu:12:3: error: identifier "x" is undefined" and what follows it, one a line.
  std::string to_string() const;
};

// "x" of the message: identifier "x" is undefined. Empty for others.
std::string_view undefined_name(std::string_view message);

// Reads NVRTC's log: "file(line): error: message", the source line, and a caret under the column.
// `rename` turns the compiler's names of files into the user's.
std::vector<Diagnostic> parse_log(std::string_view log,
                                  const std::function<std::string(std::string_view)>& rename);

// Gives the assembler's messages about lines of PTX the places in the source that these come from.
void place_ptx_errors(std::vector<Diagnostic>& diagnostics, std::string_view ptx,
                      const std::function<std::string(std::string_view)>& rename);

// The exception for a source that does not compile: the first error and its place, then every error
// in full as a note. `log` stands in where no error could be made out of it.
Error compile_error(const std::vector<Diagnostic>& diagnostics, std::string_view name,
                    std::string_view log);

// The warnings alone, for Compiled::log; empty where there are none.
std::string warnings_text(const std::vector<Diagnostic>& diagnostics);

}  // namespace baton::compiler
