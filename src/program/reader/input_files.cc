#include "program/reader/input_files.h"

namespace baton {

std::vector<std::filesystem::path> input_files(const Program& program) {
  std::vector<std::filesystem::path> files = program.definition().included;
  const auto add = [&](const std::filesystem::path& file) {
    if (!file.empty()) files.push_back(file);
  };
  add(program.file());
  for (const ProgramKernel& kernel : program.kernels()) {
    add(kernel.file);
    for (const std::filesystem::path& file : kernel.link) add(file);
  }
  for (const ProgramBuffer& buffer : program.buffers()) {
    add(buffer.file);
    add(buffer.expect);
  }
  return files;
}

}  // namespace baton
