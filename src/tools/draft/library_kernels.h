#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "baton/metadata.h"

namespace baton::tools {

// What a library with launch metadata holds of its kernels, as one file that a program can name.
struct LibraryKernels {
  std::string ending;  // ".ptx", ".cubin", ".fatbin", ".cu"
  std::string bytes;
  std::vector<FunctionMetadata> functions;
};

// The kernels of a library that TVM or TileLang exported, or of metadata with its code. Nothing for
// a CUDA source and for an image, which are such files themselves. Throws kInvalidInput for a
// library with several modules, or without an image and a source.
std::optional<LibraryKernels> library_kernels(const std::filesystem::path& file);

}  // namespace baton::tools
