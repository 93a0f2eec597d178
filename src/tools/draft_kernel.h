#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "baton/image.h"
#include "baton/metadata.h"
#include "tools/launch_guess.h"
#include "tools/program_draft.h"

namespace baton::tools {

// The simulated GPU that a draft is compiled for, and tried on.
inline constexpr std::string_view kDraftDevice = "sim:h200";

// Where the kernels of a draft come from, as a program file says it.
struct KernelFile {
  std::string key;  // "source", "ptx", "cubin", "fatbin"
  std::string path;
  ImageFacts facts;
  std::optional<Image> ptx;
};

// Throws the errors of compiling and reading, and kInvalidInput for a file without kernels.
KernelFile read_kernels(const std::filesystem::path& file, const DraftOptions& options);

// One kernel of the draft.
struct DraftKernel {
  const KernelFacts* facts = nullptr;
  std::string name;
  std::vector<std::string> buffers;            // lines of [buffers], without the shape: see `write`
  std::vector<std::string> arguments;          // as TOML, without boxes of tensor maps
  std::vector<std::string> guesses;            // about arguments
  std::vector<LaunchGuess> launches;           // the likeliest first
  LaunchGuess launch;                          // the chosen one
  std::int64_t elements = 0;                   // N with which it was tried; 0: any
  std::uint32_t multiple_of = 1;               // which N must be, so that the kernel stays inside
  const FunctionMetadata* launched = nullptr;  // how, by launch metadata; null without any
};

// A word that a program file takes as a name: of the plain name of a kernel.
std::string plain_name(const KernelFacts& kernel);

// The kernel with its likeliest launch. `is_only`: the buffers need no name of the kernel in
// theirs. Throws kInvalidInput where the image does not tell the parameters.
DraftKernel draft_kernel(const KernelFile& file, const KernelFacts& facts, const std::string& name,
                         bool is_only, const FunctionMetadata* launched);

}  // namespace baton::tools
