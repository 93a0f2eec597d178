#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baton/compile.h"
#include "compile/headers.h"
#include "compile/nvrtc/options.h"
#include "compile/nvrtc/toolkit.h"
#include "compile/source/includes.h"

namespace baton::compiler {

// Everything that decides what one compile gives, found out without loading the compiler.
struct Request {
  const Source& source;
  const CompileOptions& options;
  Toolkit toolkit;
  Arch arch;
  ParsedOptions parsed;
  IncludeScan scan;
  std::vector<EmbeddedHeader> headers;  // those that the user does not bring himself
  std::string text;                     // what the compiler gets: the prelude, then the source
  std::string program_name;             // what the compiler calls the source
};

// Asks for registers, spills and time of each kernel, in the log (ptxas_report.h).
inline constexpr std::string_view kPtxasReport = "--ptxas-options=-v";

// What the compiler calls the prelude's lines.
inline constexpr std::string_view kPreludeName = "<prelude>";

// Throws kInvalidInput for options and architecture, and for a source that is no text.
Request make_request(const Source& source, const CompileOptions& options);

// What the compiler gets as options; `with_host_code`: the declarations for host code among them.
std::vector<std::string> compiler_arguments(const Request& request, bool with_host_code);

}  // namespace baton::compiler
