#include "program/check/missing_folders.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "base/text/text.h"

namespace baton {

std::vector<std::string> missing_folder_warnings(const ProgramDefinition& program) {
  std::vector<std::string> warnings;
  for (const ProgramKernel& kernel : program.kernels) {
    for (const std::filesystem::path& folder : kernel.include) {
      std::error_code failure;
      if (std::filesystem::is_directory(folder, failure)) continue;
      const bool is_there = std::filesystem::exists(folder, failure);
      const std::string where = kernel.where.known() ? kernel.where.to_string() + ": " : "";
      warnings.push_back(
          fmt::format("{}the include folder {} of kernel {} is {}; name another, or "
                      "remove it",
                      where, printable(folder.string()), printable(kernel.name),
                      is_there ? "no folder" : "not there"));
    }
  }
  return warnings;
}

}  // namespace baton
