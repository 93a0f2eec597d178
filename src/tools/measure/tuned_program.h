#pragma once

#include <optional>
#include <string>

#include "baton/tune.h"
#include "tools/file/program_file.h"

namespace baton::tools {

// How the command line asks for a tuned program.
struct TunedChoice {
  bool untuned = false;         // --untuned
  bool fixed_executor = false;  // the executor of the options is asked for
};

// The accepted record that holds for a program with these values; nothing where there is none, or
// where the ranks have different ones. Called by all ranks. The options get its executor. Throws
// what find_tuned throws.
std::optional<TuneRecord> take_tuned(const ProgramFile& file, const Device& device,
                                     const Bindings& bindings, const TunedChoice& choice,
                                     PrepareOptions& options);

// "12.3 % less time": what a ratio of costs means.
std::string gain_text(const TuneRecord& record);

}  // namespace baton::tools
