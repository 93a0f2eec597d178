#include "tools/draft/library_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "tools/file/contents.h"

namespace baton::tools {

std::optional<LibraryKernels> library_kernels(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".cu" || ending == ".cuh" || ending == ".cpp") return std::nullopt;
  const Contents contents = read_contents(file);
  if (!contents.metadata || contents.metadata->modules.empty()) return std::nullopt;
  const std::vector<ModuleMetadata>& modules = contents.metadata->modules;
  const auto holds_code = [](const ModuleMetadata& module) {
    return module.image() || module.sources().count("cuda") != 0;
  };
  const auto first = std::find_if(modules.begin(), modules.end(), holds_code);
  if (first == modules.end()) {
    throw error(ErrorCode::kInvalidInput,
                "{} has launch metadata and neither an image nor a CUDA source; give the image or "
                "the source that it describes",
                file.string());
  }
  if (std::find_if(std::next(first), modules.end(), holds_code) != modules.end()) {
    throw error(
        ErrorCode::kInvalidInput,
        "{} has several modules of kernels; write each to a file by baton inspect --extract, "
        "and give one",
        file.string());
  }
  LibraryKernels kernels;
  kernels.functions.assign(first->functions().begin(), first->functions().end());
  if (first->image()) {
    kernels.ending = fmt::format(".{}", to_string(first->image()->kind()));
    kernels.bytes = first->image()->bytes();
  } else {
    kernels.ending = ".cu";
    kernels.bytes = first->sources().at("cuda");
  }
  return kernels;
}

}  // namespace baton::tools
