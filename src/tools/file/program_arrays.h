#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/array.h"
#include "baton/program.h"

namespace baton::tools {

// What options name of a program's buffers, and the files that they give for them.

// NAME=VALUE, as --set, --input, --output and --expect take it.
using Assignment = std::pair<std::string, std::string>;
using NamedArrays = std::vector<std::pair<std::string, Array>>;

// The buffers that an option serves: those that a run starts with, or all.
enum class Serves { kInputs, kAll };

// The buffer that `option` names. Throws kNotFound with the nearest name, kInvalidInput for a
// buffer of a role that the option does not serve.
const ProgramBuffer& named_buffer(const Program& program, std::string_view option,
                                  const std::string& name, Serves serves);

// Reads the files. Throws what named_buffer and read_npy throw.
NamedArrays read_arrays(const Program& program, std::string_view option,
                        const std::vector<Assignment>& files, Serves serves);

// Whether the file that an option names can be written. A long run must not end at a folder that
// does not exist. Throws kNotFound or kInvalidInput.
void require_target(std::string_view option, const std::filesystem::path& file);

// What can be known of --output before the run: the buffers exist, and their files can be written.
// Throws kNotFound or kInvalidInput.
void check_outputs(const Program& program, const std::vector<Assignment>& outputs);

}  // namespace baton::tools
