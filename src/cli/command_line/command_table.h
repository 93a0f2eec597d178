#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/options.h"
#include "cli/command_line/raw_options.h"

namespace baton::cli {

// The one table of commands and options. The parser, the help, the man pages and the completion of
// shells read it. Texts are one or more clauses of plain ASCII, without a full stop at the end.

// The words that a shell offers for a value.
struct Completion {
  enum class Kind { kNothing, kFile, kFolder, kWords };
  Kind kind = Kind::kNothing;
  std::string words;  // of kWords, with blanks between them
};

struct OptionRow {
  std::string_view names;  // "--set", or short and long: "-o,--output"
  std::string_view value;  // "FILE.npy"; empty for a flag
  std::string_view text;
  RawTarget target;
  Completion completion = {};
};

struct ArgumentRow {
  std::string_view name;  // "PROGRAM"
  std::string_view text;
  std::string_view need;  // "a program file", as an error says that it is missing; empty: optional
  ArgumentTarget target;
  Completion completion = {};
};

struct ExampleRow {
  std::string_view purpose;
  std::string_view call;
};

struct CommandRow {
  std::string_view name;
  std::string_view summary;
  std::string_view synopsis;  // of its arguments and required options: "PROGRAM -o OUT.baton"
  std::vector<ArgumentRow> arguments;
  std::vector<OptionRow> options;  // without those that every command has
  std::vector<ExampleRow> examples;
  std::string_view rest;  // "OPTIONS for NVRTC": what may follow "--"; empty: nothing
  // Checks what was written. Throws kInvalidInput, naming the option and its value.
  Command (*checked)(const RawOptions& raw);
  std::string_view instead_of_json = {};  // what it prints instead: it has no --json
  std::string_view own_status = {};       // what its status is of the program that it runs
  // As compute-sanitizer does: the program may stand there without "--", and its options are taken.
  bool takes_program_alone = false;
};

// All commands, in the order of the help. Any thread may call it.
const std::vector<CommandRow>& command_table();
inline constexpr std::string_view kJsonOption = "--json";
// The options of every command. Some commands lack --json.
std::span<const OptionRow> common_options();

// The command of that name; null where there is none.
const CommandRow* find_command(std::string_view name);
// The same for a name that a user gave. Throws kInvalidInput with the nearest name.
const CommandRow& named_command(std::string_view name);
std::vector<std::string> command_names();

// "-o,--output" as its names.
std::vector<std::string_view> option_names(const OptionRow& option);
// Whether it may be given several times.
bool may_repeat(const OptionRow& option);
// The command's own options, then those of every command that it has not replaced.
std::vector<OptionRow> all_options(const CommandRow& command);

// "baton run PROGRAM [OPTIONS]".
std::string usage(const CommandRow& command);

// What each exit status means, and what the environment decides, for every command.
struct ExitStatusRow {
  std::string_view status;
  std::string_view text;
};
struct EnvironmentRow {
  std::string_view name;
  std::string_view text;
};
std::span<const ExitStatusRow> exit_statuses();
std::span<const EnvironmentRow> environment_variables();

}  // namespace baton::cli
