#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "baton/metadata.h"
#include "image/cubin/debug_params.h"
#include "tools/draft/draft_names.h"
#include "tools/draft/draft_size.h"
#include "tools/draft/launch_guess.h"
#include "tools/draft/program_draft.h"

namespace baton::tools {

// The simulated GPU that a draft is compiled for, and tried on.
inline constexpr std::string_view kDraftDevice = "sim:h200";

// A __constant__ variable that holds zeros until a run fills it.
struct DraftConstant {
  VariableFacts variable;
  std::optional<DType> dtype;  // of the numbers in it; bytes where they are of several
};

// Where the kernels of a draft come from, as a program file says it.
struct KernelFile {
  std::string key;  // "source", "ptx", "cubin", "fatbin"
  std::string path;
  ImageFacts facts;  // with what the debug information says
  // Those that a load sees, which has no debug information; empty: the same.
  std::optional<ImageFacts> loaded_facts;
  std::optional<Image> ptx;
  std::vector<DraftConstant> constants;
  // The names of kernels' parameters in the source, by symbol, where they are known.
  image::DebugParams param_names;
};

// Throws the errors of compiling and reading, and kInvalidInput for a file without kernels.
KernelFile read_kernels(const std::filesystem::path& file, const DraftOptions& options);

// A buffer of the draft.
struct DraftBuffer {
  std::string name;
  std::string param;       // the parameter's name in the source; empty if it is not known
  std::string_view role;   // "input", "output", "inout"
  std::string definition;  // as TOML, with "@" for the shape
  DType dtype = DType::kF32;
  std::int64_t fixed = 0;  // elements, whatever the symbols are; 0: `DraftKernel::size`
  // The axes of what the kernel accesses of it, where trials show fewer than the launch covers;
  // with 0 axes it is one element.
  std::optional<int> axes = {};
  std::optional<DraftSize> size = {};  // where it is not that of its kernel
};

// One kernel of the draft.
struct DraftKernel {
  const KernelFacts* facts = nullptr;
  std::string name;
  std::vector<DraftBuffer> buffers;
  DraftSize size;                              // of its buffers
  std::vector<std::string> counts;             // the symbols among its arguments
  std::vector<std::string> arguments;          // as TOML, without boxes of tensor maps
  std::vector<std::string> guesses;            // about arguments
  std::vector<std::string> structs;            // those of `arguments` that are zeros
  std::vector<std::string> textures;           // those of `arguments` that no program can make
  std::vector<LaunchGuess> launches;           // the likeliest first
  LaunchGuess launch;                          // the chosen one
  std::int64_t elements = 0;                   // the size with which it was tried; 0: any
  std::uint32_t beyond = 0;                    // elements that buffers of a line have beyond it
  std::uint32_t multiple_of = 1;               // of which the size is, so that it stays inside
  const FunctionMetadata* launched = nullptr;  // how, by launch metadata; null without any
};

// A word that a program file takes as a name: of the plain name of a kernel.
std::string plain_name(const KernelFacts& kernel);

// The kernel with its likeliest launch. Throws kInvalidInput where the image does not tell the
// parameters.
DraftKernel draft_kernel(const KernelFile& file, const KernelFacts& facts, const std::string& name,
                         DraftNames& names, const FunctionMetadata* launched);

}  // namespace baton::tools
