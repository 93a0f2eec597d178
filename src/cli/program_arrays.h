#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/array.h"
#include "baton/program.h"
#include "cli/options.h"

namespace baton::cli {

// What options name of a program's buffers, and the files that they give for them.

using NamedArrays = std::vector<std::pair<std::string, Array>>;

// The buffers that an option serves: those that a run starts with, or those that it leaves.
enum class Serves { kInputs, kOutputs };

// The buffer that `option` names. Throws kNotFound with the nearest name, kInvalidInput for a
// buffer of a role that the option does not serve.
const ProgramBuffer& named_buffer(const Program& program, std::string_view option,
                                  const std::string& name, Serves serves);

// Reads the files. Throws what named_buffer and read_npy throw.
NamedArrays read_arrays(const Program& program, std::string_view option,
                        const std::vector<Assignment>& files, Serves serves);

}  // namespace baton::cli
