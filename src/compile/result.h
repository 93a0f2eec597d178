#pragma once

#include <string>
#include <utility>
#include <vector>

#include "baton/compile.h"

namespace baton::compiler {

// What one compile gave, with marks in place of file names (PathTable): what the cache keeps.
struct Result {
  // For listings.
  std::string name;                  // the source's
  std::string arch;                  // "sm_90a"
  std::vector<std::string> entries;  // the name expressions asked for
  std::string compiler;              // "NVRTC 13.0"
  double seconds = 0;                // spent in the compiler
  // The result itself.
  std::vector<std::pair<std::string, std::string>> symbols;  // expression → symbol
  std::vector<CompiledKernel> kernels;
  std::string log;
  std::string ptx;    // without a NUL; empty for LTO-IR, and for what has none
  std::string cubin;  // empty for a virtual architecture; of what is for a link, maybe LTO-IR
  // The files that the cubin's line table names, as the compiler called them, and their marks.
  std::vector<std::pair<std::string, std::string>> line_files;
};

}  // namespace baton::compiler
