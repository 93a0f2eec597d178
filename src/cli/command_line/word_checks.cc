#include "cli/command_line/word_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "tools/basics.h"

namespace baton::cli {
namespace {

std::vector<OptionRow> options_of(const CommandRow* command) {
  const std::span<const OptionRow> common = common_options();
  return command == nullptr ? std::vector(common.begin(), common.end()) : all_options(*command);
}

// Whether what follows "--" is options for what the command calls, and not a program.
bool passes_options_on(const CommandRow& command) {
  return !command.rest.empty() && !command.arguments.empty();
}

// "-O3", "-DN=4", "-lineinfo": Baton's own options with one dash have one letter.
bool is_compiler_option(std::string_view word) {
  return word.size() > 2 && word[0] == '-' && word[1] != '-';
}

class WordChecker {
 public:
  explicit WordChecker(const CommandRow* command)
      : command_(command), options_(options_of(command)) {}

  void check(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (word.empty()) refuse_empty();
      const std::size_t equals = word.find('=');
      const std::string_view name = word.substr(0, equals);
      const OptionRow* const option = find(name);
      if (option == nullptr) continue;
      const bool is_joined = equals != std::string_view::npos;
      if (option->value.empty()) {
        if (is_joined) refuse_flag_value(name, word);
        continue;
      }
      std::optional<std::string_view> value;
      if (is_joined) {
        value = word.substr(equals + 1);
      } else if (i + 1 < words.size() && !looks_like_option(words[i + 1])) {
        value = words[++i];
      }
      if (!value || (is_joined && value->empty())) refuse_missing(*option, name);
      note(*option, name, *value);
    }
  }

 private:
  const OptionRow* find(std::string_view name) const {
    const auto found = std::ranges::find_if(options_, [&](const OptionRow& option) {
      return std::ranges::count(option_names(option), name) > 0;
    });
    return found == options_.end() ? nullptr : &*found;
  }

  // No value begins so: a misspelt option is not a name or a file.
  static bool looks_like_option(std::string_view word) {
    return word.size() > 2 && word.starts_with("--");
  }

  [[noreturn]] void refuse_empty() const {
    const std::string call = command_ == nullptr ? "baton COMMAND" : usage(*command_);
    throw error(ErrorCode::kInvalidInput, "an argument is empty, \"\"; the call is: {}", call);
  }

  [[noreturn]] static void refuse_flag_value(std::string_view name, std::string_view word) {
    throw error(ErrorCode::kInvalidInput, "{0} takes no value, \"{1}\" gives one; write {0}", name,
                printable(word));
  }

  [[noreturn]] void refuse_missing(const OptionRow& option, std::string_view name) const {
    throw error(ErrorCode::kInvalidInput, "{0} lacks its value: {0} {1}; {2} lists the options",
                name, option.value, help_call(command_));
  }

  void note(const OptionRow& option, std::string_view name, std::string_view value) {
    if (may_repeat(option)) return;
    const auto [earlier, is_new] = given_.try_emplace(&option, value);
    if (is_new) return;
    throw error(ErrorCode::kInvalidInput,
                "{} is given twice, as \"{}\" and as \"{}\"; keep one of them", name,
                printable(earlier->second), printable(value));
  }

  const CommandRow* command_;
  std::vector<OptionRow> options_;
  std::map<const OptionRow*, std::string_view> given_;
};

}  // namespace

std::string help_call(const CommandRow* command) {
  return command == nullptr ? "baton --help" : fmt::format("baton {} --help", command->name);
}

void check_words(const CommandRow* command, const std::vector<std::string>& words) {
  WordChecker(command).check(words);
}

void refuse_option(const CommandRow* command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  if (command != nullptr && option == kJsonOption && !command->instead_of_json.empty()) {
    throw error(ErrorCode::kInvalidInput, "baton {} prints {}, not JSON; leave {} out",
                command->name, command->instead_of_json, kJsonOption);
  }
  if (command != nullptr && passes_options_on(*command) && is_compiler_option(word)) {
    throw error(
        ErrorCode::kInvalidInput,
        "unknown option \"{0}\"; options of the compiler come after \"--\": baton {1} {2} -- "
        "{0}",
        word, command->name, command->synopsis);
  }
  const std::vector<OptionRow> options = options_of(command);
  std::vector<std::string_view> names;
  for (const OptionRow& row : options) {
    for (const std::string_view name : option_names(row)) names.push_back(name);
  }
  // The compiler's long options have two dashes, too.
  const bool passes_on = command != nullptr && passes_options_on(*command);
  const std::string_view others = passes_on ? ", and those of the compiler come after \"--\"" : "";
  const std::string advice = fmt::format("{} lists the options{}", help_call(command), others);
  throw error(ErrorCode::kInvalidInput, "unknown option \"{}\"{}", word,
              suggestion_or(option, names, advice));
}

}  // namespace baton::cli
