#pragma once

#include <string>
#include <utility>
#include <vector>

#include "baton/compile.h"
#include "compile/cache/path_table.h"
#include "compile/nvrtc/diagnostics.h"
#include "compile/nvrtc/nvrtc.h"

namespace baton::compiler {

// What one compile reads.
struct ProgramInput {
  std::string text;
  std::string name;                                          // what the compiler calls it
  std::vector<std::pair<std::string, std::string>> headers;  // name in an #include → text
  std::vector<std::string> arguments;
  std::vector<std::string> entries;  // name expressions
};

// What one compile gave. File names in the diagnostics are PathTable's marks.
struct Attempt {
  Nvrtc::Result result = Nvrtc::kSuccess;
  std::string log;
  std::vector<CompiledKernel> kernels;
  std::vector<Diagnostic> diagnostics;
  std::string ptx;
  std::string cubin;
  std::string lto;                                           // LTO-IR, which -dlto gives instead
  std::vector<std::pair<std::string, std::string>> symbols;  // entry → symbol

  bool succeeded() const { return result == Nvrtc::kSuccess; }
};

// Compiles once; where the assembler fails and says nothing, once more without its report. An
// exception of the thread's CompilerWait comes out. `nvrtc` lives as long as the process.
Attempt attempt(const Nvrtc& nvrtc, ProgramInput input, const PathTable& paths);

}  // namespace baton::compiler
