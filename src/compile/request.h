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
  std::size_t source_at = 0;            // where the source begins in it
  std::string program_name;             // what the compiler calls the source
  // The result is one of several that are linked: other files may define what it calls, and may
  // have the entries that it lacks.
  bool is_for_link = false;
};

// What the compiler calls the prelude's lines.
inline constexpr std::string_view kPreludeName = "<prelude>";

// Throws kInvalidInput for options and architecture, and for a source that is not text.
Request make_request(const Source& source, const CompileOptions& options, bool is_for_link = false);

// What one attempt gets beyond the source and its options.
struct Setup {
  bool host = false;         // the declarations for host code
  bool standard = true;      // where the source says std::, what nvcc brings into that namespace
  bool tensor_map = false;   // <cuda.h>, which nvcc's users get by CUDA's runtime
  bool no_register = false;  // `register` means nothing, as for nvcc
  bool hides = false;        // what hidden host code calls
  bool no_thrust = false;    // headers of host libraries of CUDA hold nothing
  bool no_thrust_types = false;                // nor do those of Thrust that kernels use too
  bool nvcc = false;                           // __NVCC__ is defined
  std::vector<std::string_view> headers = {};  // of C++, included before the source
  std::vector<std::string> withheld = {};      // names that `std` does not have for the host
  bool operator==(const Setup&) const = default;
};

// What the compiler gets as options.
std::vector<std::string> compiler_arguments(const Request& request, const Setup& setup);

}  // namespace baton::compiler
