#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_table.h"

namespace baton::cli {

// "baton run --help": what lists the options of a command; of Baton itself for null.
std::string help_call(const CommandRow* command);

// Checks that each option among the words has the values that it takes: one, or none for a flag;
// that one is given once, unless it may repeat; and that no argument is empty. Options that the
// command lacks are left to others. Throws kInvalidInput, naming the option as it was written.
void check_words(const CommandRow* command, const std::vector<std::string>& words);

// Throws kInvalidInput for an option that the command lacks, with the nearest one.
[[noreturn]] void refuse_option(const CommandRow* command, const std::string& word);

}  // namespace baton::cli
