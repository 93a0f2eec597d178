#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/compile.h"

namespace baton::tools {

// The files that a source includes, but CUDA's own. Throws what reading the files throws.
std::vector<std::filesystem::path> included_files(const Source& source,
                                                  const CompileOptions& options);

// The rule that make and Ninja read: `target`, the source and all files that it includes, but
// CUDA's own. Paths are absolute. Throws what reading the files throws.
std::string depfile(const std::filesystem::path& target, const std::filesystem::path& file,
                    const Source& source, const CompileOptions& options);

}  // namespace baton::tools
