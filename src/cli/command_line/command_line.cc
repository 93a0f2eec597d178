#include "cli/command_line/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/command_line/command_table.h"
#include "cli/command_line/sanitizer_options.h"
#include "cli/command_line/word_checks.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

// Splits options from values, by CLI11. It leaves the words that it does not know to this class, so
// that each is named with its nearest neighbour.
class CommandLineParser {
 public:
  // Knows the commands that are among the arguments: to make the options of all takes longer than
  // a short command does.
  explicit CommandLineParser(const std::vector<std::string>& arguments) {
    app_.require_subcommand(0, 1);
    add_options(app_, common_options());
    for (const CommandRow& row : command_table()) {
      if (std::find(arguments.begin(), arguments.end(), row.name) == arguments.end()) continue;
      CLI::App& command = *app_.add_subcommand(std::string(row.name));
      for (const ArgumentRow& argument : row.arguments) {
        std::visit(
            [&](auto target) { command.add_option(std::string(argument.name), raw_.*target); },
            argument.target);
      }
      add_options(command, all_options(row));
    }
  }

  Command parse(std::vector<std::string> arguments) {
    const CommandRow* const called = find_command(command_name(arguments));
    const auto separator = called != nullptr && called->takes_program_alone
                               ? begin_of_program(*called, arguments)
                               : std::find(arguments.begin(), arguments.end(), "--");
    const bool separated = separator != arguments.end();
    const bool has_dashes = separated && *separator == "--";
    raw_.rest.assign(has_dashes ? separator + 1 : separator, arguments.end());
    arguments.erase(separator, arguments.end());
    if (called != nullptr && called->takes_program_alone) {
      arguments = without_sanitizer_options(arguments);
    }
    const bool asks_help =
        std::any_of(arguments.begin(), arguments.end(),
                    [](const std::string& word) { return word == "--help" || word == "-h"; });
    // Whatever else is wrong, and whichever option lacks its value before it.
    if (asks_help && called != nullptr) return ShowHelp{std::string(called->name)};
    check_words(called, arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& failure) {
      throw error(ErrorCode::kInvalidInput, "{}; {} lists the options", failure.what(),
                  help_call(called));
    }

    const std::vector<CLI::App*> chosen = app_.get_subcommands();
    if (chosen.empty()) refuse_unknown_command();
    const CommandRow* const command =
        chosen.empty() ? nullptr : find_command(chosen.front()->get_name());
    if (raw_.help) return ShowHelp{command == nullptr ? "" : std::string(command->name)};
    if (raw_.version) return ShowVersion{};
    if (command == nullptr) {
      throw error(ErrorCode::kInvalidInput, "no command was given{}; baton help lists all",
                  suggestion("", command_names()));
    }
    refuse_surplus(*command, *chosen.front(), separated);
    // It may stand before the command, where it is an option of Baton itself.
    if (raw_.json && !command->instead_of_json.empty()) {
      refuse_option(command, std::string(kJsonOption));
    }
    check_values(*command, *chosen.front());
    for (const ArgumentRow& argument : command->arguments) {
      const bool is_given =
          std::visit([&](auto target) { return !(raw_.*target).empty(); }, argument.target);
      if (argument.need.empty() || is_given) continue;
      throw error(ErrorCode::kInvalidInput, "baton {0} needs {1}: baton {0} {2}", command->name,
                  argument.need, command->synopsis);
    }
    return command->checked(raw_);
  }

 private:
  template <typename Rows>
  void add_options(CLI::App& app, const Rows& rows) {
    app.allow_extras();
    app.set_help_flag();
    for (const OptionRow& row : rows) {
      const std::string names(row.names);
      // Each occurrence takes exactly one value.
      std::visit(Overloaded{[&](bool RawOptions::*flag) { app.add_flag(names, raw_.*flag); },
                            [&](auto RawOptions::*value) {
                              app.add_option(names, raw_.*value)->allow_extra_args(false);
                            }},
                 row.target);
    }
  }

  // "--", or the first word behind the command that is neither an option nor its value.
  static std::vector<std::string>::iterator begin_of_program(const CommandRow& command,
                                                             std::vector<std::string>& words) {
    const std::vector<OptionRow> options = all_options(command);
    auto at = std::find(words.begin(), words.end(), command.name);
    for (++at; at != words.end() && *at != "--" && at->starts_with("-");) {
      const auto next = std::next(at);
      const std::size_t taken = sanitizer_words(*at, next == words.end() ? "" : *next);
      const auto option = std::ranges::find_if(options, [&](const OptionRow& row) {
        return std::ranges::count(option_names(row), std::string_view(*at)) > 0;
      });
      const bool has_value = option != options.end() && !option->value.empty();
      const std::ptrdiff_t count = taken == 2 || has_value ? 2 : 1;
      at += std::min(count, words.end() - at);
    }
    return at;
  }

  // The first word that is neither a command nor an option of Baton itself.
  void refuse_unknown_command() {
    const std::vector<std::string> extras = app_.remaining();
    if (extras.empty()) return;
    const std::string& word = extras.front();
    if (word.starts_with("-")) refuse_option(nullptr, word);
    named_command(word);
  }

  void refuse_surplus(const CommandRow& command, const CLI::App& parsed, bool separated) {
    // app_.remaining() has what was written before the command, where it does not belong.
    if (const std::vector<std::string> before = app_.remaining(); !before.empty()) {
      throw error(ErrorCode::kInvalidInput,
                  "\"{0}\" comes before the command \"{1}\"; write it after: baton {1} {0}",
                  before.front(), command.name);
    }
    const std::vector<std::string> extras = parsed.remaining();
    const auto option = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
      return extra.size() > 1 && extra.front() == '-';
    });
    if (option != extras.end()) refuse_option(&command, *option);
    const bool is_a_program = !command.rest.empty() && command.arguments.empty() && !separated;
    if (!extras.empty() && is_a_program) {
      throw error(ErrorCode::kInvalidInput,
                  "baton {0} takes \"{1}\" after \"--\" alone: baton {0} -- {1}", command.name,
                  extras.front());
    }
    if (!extras.empty()) {
      throw error(
          ErrorCode::kInvalidInput,
          "baton {} does not take \"{}\" in addition to the arguments before it; leave it out",
          command.name, extras.front());
    }
    if (separated && command.rest.empty()) {
      throw error(ErrorCode::kInvalidInput,
                  "baton {} takes nothing after \"--\"; leave it out, and what follows it",
                  command.name);
    }
  }

  // Below this line an empty text is an option that was left out.
  static void check_values(const CommandRow& command, const CLI::App& parsed) {
    for (const OptionRow& row : all_options(command)) {
      const std::string name(option_names(row).front());
      for (const std::string& value : parsed.get_option(name)->results()) {
        if (value.empty()) {
          throw error(ErrorCode::kInvalidInput,
                      "{0} lacks its value: {0} {1}; {2} lists the options", name, row.value,
                      help_call(&command));
        }
        refuse_dash(row, name, value);
      }
    }
  }

  // Elsewhere "-" stands for standard input or output. Here these have the report, and no files.
  static void refuse_dash(const OptionRow& row, const std::string& name, const std::string& value) {
    const bool is_path = row.completion.kind == Completion::Kind::kFile ||
                         row.completion.kind == Completion::Kind::kFolder;
    if (!is_path || (value != "-" && !value.ends_with("=-"))) return;
    throw error(ErrorCode::kInvalidInput,
                "{} {}: \"-\" does not stand for standard input or output; name a file", name,
                printable(value));
  }

  CLI::App app_;
  RawOptions raw_;
};

}  // namespace

std::string command_name(const std::vector<std::string>& arguments) {
  const std::vector<std::string> names = command_names();
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto found = std::find_first_of(arguments.begin(), end, names.begin(), names.end());
  if (found != end) return *found;
  const bool word = !arguments.empty() && !arguments.front().starts_with("-");
  return word ? arguments.front() : "";
}

Command parse_command_line(const std::vector<std::string>& arguments) {
  return CommandLineParser(arguments).parse(arguments);
}

}  // namespace baton::cli
