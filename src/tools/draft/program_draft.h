#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/metadata.h"

namespace baton::tools {

// A program file for kernels that have none: what `baton init` writes.
struct ProgramDraft {
  std::string text;                  // TOML; guesses are marked as such
  std::vector<std::string> kernels;  // their names in it
  std::vector<std::string> remarks;  // such as kernels whose trial failed, and why
};

// What a draft is doing: it tries a guess of a kernel's launch.
struct DraftProgress {
  std::string_view kernel;
  std::size_t done = 0;     // kernels
  std::size_t kernels = 0;  // in all
  std::size_t guess = 0;    // that is tried, from 0
  std::size_t guesses = 0;  // in all; how many are tried is not known
};

struct DraftOptions {
  std::vector<std::string> entries = {};  // name expressions to instantiate, of a source
  std::string arch = {};                  // empty: that of the simulated H200
  // The program file's folder: the draft names the kernels' file relative to it.
  std::filesystem::path folder = {};
  // How kernels are launched, by their symbols, where launch metadata says it.
  std::vector<FunctionMetadata> functions = {};
  // Called before each trial of a guess.
  std::function<void(const DraftProgress&)> progress = {};
};

// Drafts a program with one step for each kernel of a source or an image. Types, read and written
// parameters and required blocks come from the kernels' facts. Sizes, grids and values of scalars
// are guesses. Each kernel is tried on the simulated GPU, so that buffers are large enough for what
// the draft passes. Launch metadata adds types of arguments, and what a launch has. Throws the
// errors of compiling and reading, and kInvalidInput for a file without kernels.
ProgramDraft draft_program(const std::filesystem::path& file, const DraftOptions& options);

}  // namespace baton::tools
