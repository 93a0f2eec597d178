#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/command_table.h"

// Parts of rows of the command table: options that several commands have, and the options of the
// commands with many.
namespace baton::cli::rows {

using Options = std::vector<OptionRow>;

inline const Completion kFile{Completion::Kind::kFile, {}};
inline const Completion kFolder{Completion::Kind::kFolder, {}};
Completion words(std::string text);
// The simulated GPUs, and the others.
Completion devices(const std::string& others = "");

Options joined(std::initializer_list<Options> parts);
OptionRow arch(std::string_view value, std::string_view text);
OptionRow entry();
OptionRow output(std::string_view value, std::string_view text);
OptionRow strict();
OptionRow trusted();
// A report for other tools.
Options reports();
// The options of all commands that bind a program's symbols.
Options binding();

Options tune_options();
Options run_options();
Options bench_options();
Options exec_options();

}  // namespace baton::cli::rows
