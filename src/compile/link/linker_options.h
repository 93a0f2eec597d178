#pragma once

#include <string>
#include <vector>

namespace baton::compiler {

// What a device link takes over from the options of the sources that it links.
struct LinkerOptions {
  std::vector<std::string> assembler;  // -maxrregcount, -Xptxas, -g: for machine code
  std::vector<std::string> codegen;    // -ftz, -fma, …: where -lto generates the code

  // Adds those of one source, each once.
  void add(const std::vector<std::string>& compile_options);
};

}  // namespace baton::compiler
