#pragma once

#include <filesystem>
#include <optional>

#include "baton/bundle.h"
#include "baton/executable.h"
#include "baton/tune_choices.h"
#include "tools/trust.h"

namespace baton::tools {

// A program that the command line names: a program file, or a bundle. The bytes decide.
struct ProgramFile {
  Program program;
  std::optional<Bundle> bundle;

  // Throws what LoadedProgram::load throws.
  Executable prepare(const Device& device, const PrepareOptions& options,
                     const TuneChoices& choices = {}) const;
};

// Throws what Program::from_file and Bundle::open throw, and kInvalidInput for a program file where
// a key is given: it has no signature.
ProgramFile open_program(const std::filesystem::path& path, const TrustedFiles& trusted);

// ", for sm_90a, sm_100a"; empty for a bundle without kernels.
std::string for_architectures(const Bundle& bundle);

// Writes every part of a bundle into a folder as it is, PTX without its NUL, and manifest.json,
// which says the digest of each. Returns the paths written.
std::vector<std::string> extract_bundle(const Bundle& bundle, const std::filesystem::path& folder);

}  // namespace baton::tools
