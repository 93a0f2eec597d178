#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "baton/bundle.h"
#include "baton/executable.h"
#include "baton/tune_choices.h"
#include "tools/draft/library_program.h"
#include "tools/file/program_arrays.h"
#include "tools/file/trust.h"

namespace baton::tools {

// A program that the command line names: a program file, or a bundle. The bytes decide.
struct ProgramFile {
  Program program;
  std::optional<Bundle> bundle = std::nullopt;
  std::vector<Assignment> inputs = {};  // of a library's function: the files of its buffers

  // Throws what LoadedProgram::load throws.
  Executable prepare(const Device& device, const PrepareOptions& options,
                     const TuneChoices& choices = {}) const;
};

// Throws kInvalidInput for a file of CUDA source, by its ending.
void require_no_source(const std::filesystem::path& path);

// The same, and for a record and another folder: for what cannot be a program.
void require_program(const std::filesystem::path& path);

// Throws what Program::from_file and Bundle::open throw, and kInvalidInput for a program file where
// a key is given: it has no signature.
ProgramFile open_program(const std::filesystem::path& path, const TrustedFiles& trusted);

// Whether the file is a library with launch metadata. Throws what library_kernels throws.
bool is_library(const std::filesystem::path& path);

// The program that calls a function of a library with launch metadata. Throws what library_program
// and library_kernels throw, and kInvalidInput for another kind of file.
ProgramFile open_library(const std::filesystem::path& path, const LibraryCall& call);

// ", for sm_90a, sm_100a"; empty for a bundle without kernels.
std::string for_architectures(const Bundle& bundle);

}  // namespace baton::tools
