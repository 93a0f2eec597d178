#include "cli/command_line/completion_script.h"

#include <fmt/ranges.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "cli/command_line/command_table.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

// Text inside of single quotes, which bash and zsh write so, with `special` characters escaped.
std::string single_quoted(std::string_view text, std::string_view special = "") {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// What follows a word in bash: a call that fills COMPREPLY.
std::string bash_reply(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::kNothing:
      return "return";
    case Completion::Kind::kFile:
      return "_baton_reply -f";
    case Completion::Kind::kFolder:
      return "_baton_reply -d";
    case Completion::Kind::kWords:
      return fmt::format("_baton_reply -W '{}'", single_quoted(completion.words));
  }
  return {};
}

// The action of one specification of _arguments.
std::string zsh_action(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::kNothing:
      return "";
    case Completion::Kind::kFile:
      return "_files";
    case Completion::Kind::kFolder:
      return "_files -/";
    case Completion::Kind::kWords:
      return fmt::format("({})", single_quoted(completion.words, ":"));
  }
  return {};
}

std::string zsh_option(const OptionRow& option) {
  std::string text;
  const std::string value =
      option.value.empty()
          ? ""
          : fmt::format(":{}:{}", single_quoted(option.value, ":"), zsh_action(option.completion));
  for (const std::string_view name : option_names(option)) {
    // The value of a long option may follow "=", too.
    const bool is_joined = !option.value.empty() && name.starts_with("--");
    text += fmt::format(" \\\n        '{}{}{}[{}]{}'", may_repeat(option) ? "*" : "", name,
                        is_joined ? "=" : "", single_quoted(option.text, "[]:"), value);
  }
  return text;
}

std::string fish_value(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::kNothing:
      return "-x";
    case Completion::Kind::kFile:
      return "-r -F";
    case Completion::Kind::kFolder:
      return "-x -a '(__fish_complete_directories)'";
    case Completion::Kind::kWords:
      return fmt::format("-x -a '{}'", completion.words);
  }
  return {};
}

// fish has two escapes inside of single quotes.
std::string fish_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

// Bash breaks words at "=" and ":". The script therefore reads the line itself, and replies with
// what follows the last of them.
std::string bash_completion() {
  std::string text = R"(# bash completion of baton; baton completion bash prints it

# Words that continue the one under the cursor; the arguments are those of compgen.
_baton_reply() {
  local part="${current##*[=:]}" whole="$current" word
  [[ $1 == -W ]] || whole="$part"
  compopt -o filenames 2>/dev/null
  [[ $1 == -W ]] && compopt +o filenames 2>/dev/null
  while IFS= read -r word; do
    COMPREPLY+=("${word#"${whole%"$part"}"}")
  done < <(compgen "$@" -- "$whole")
}

_baton() {
  local line="${COMP_LINE:0:COMP_POINT}" command= current= previous= word
  local -a words
  local position=0
  COMPREPLY=()
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current="${words[-1]}"
  [[ ${#words[@]} -gt 1 ]] && previous="${words[-2]}"
  unset 'words[-1]'
  # "--device=si" completes as "--device si" does.
  [[ $current == --*=* ]] && { previous="${current%%=*}"; current="${current#*=}"; }
  for word in "${words[@]:1}"; do
    [[ $word == -- ]] && { _baton_reply -f; return; }
    [[ $word == -* ]] && continue
    if [[ -z $command ]]; then command="$word"; else position=$((position + 1)); fi
  done
  case "$command $previous" in
)";
  for (const CommandRow& row : command_table()) {
    for (const OptionRow& option : row.options) {
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string_view name : option_names(option)) {
        patterns.push_back(fmt::format("'{} {}'", row.name, name));
      }
      text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, " | "),
                          bash_reply(option.completion));
    }
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const CommandRow& row : command_table()) {
    std::vector<std::string_view> names;
    for (const OptionRow& option : all_options(row)) {
      for (const std::string_view name : option_names(option)) names.push_back(name);
    }
    text +=
        fmt::format("    {})\n      [[ $current == -* ]] && {{ _baton_reply -W '{}'; return; }}\n",
                    row.name, fmt::join(names, " "));
    // Values of options count as arguments here, so what the last one takes is offered from there
    // on.
    for (std::size_t i = 0; i < row.arguments.size(); ++i) {
      const bool last = i + 1 == row.arguments.size();
      const std::string reply = bash_reply(row.arguments[i].completion);
      text += last ? fmt::format("      {}\n", reply)
                   : fmt::format("      [[ $position -eq {} ]] && {{ {}; return; }}\n", i, reply);
    }
    text += "      ;;\n";
  }
  text += fmt::format("    *) _baton_reply -W '{} --help --version' ;;\n  esac\n}}\n\n",
                      fmt::join(command_names(), " "));
  return text + "complete -F _baton baton\n";
}

std::string zsh_completion() {
  std::string text =
      "#compdef baton\n# zsh completion of baton; baton completion zsh prints it\n\n";
  text += "_baton() {\n  local state line curcontext=\"$curcontext\"\n  local -a commands=(\n";
  for (const CommandRow& row : command_table()) {
    text += fmt::format("    '{}:{}'\n", row.name, single_quoted(row.summary, ":"));
  }
  text += "  )\n  _arguments -C";
  for (const OptionRow& option : common_options()) text += zsh_option(option);
  text += " \\\n        '1: :->command' '*:: :->arguments'\n  case $state in\n";
  text += "    command) _describe command commands ;;\n    arguments)\n      case $line[1] in\n";
  for (const CommandRow& row : command_table()) {
    text += fmt::format("      {}) _arguments", row.name);
    for (const OptionRow& option : all_options(row)) text += zsh_option(option);
    for (std::size_t i = 0; i < row.arguments.size(); ++i) {
      const ArgumentRow& argument = row.arguments[i];
      text += fmt::format(" \\\n        '{}:{}:{}'", i + 1, single_quoted(argument.name, ":"),
                          zsh_action(argument.completion));
    }
    text += " ;;\n";
  }
  text += "      esac ;;\n  esac\n}\n\n";
  // As a file of $fpath it is called, as a script it is registered.
  return text +
         "if [ \"$funcstack[1]\" = \"_baton\" ]; then\n  _baton \"$@\"\nelse\n  compdef _baton "
         "baton\n"
         "fi\n";
}

std::string fish_completion() {
  std::string text = "# fish completion of baton; baton completion fish prints it\n\n";
  text += "complete -c baton -f\n";
  for (const CommandRow& row : command_table()) {
    text += fmt::format("complete -c baton -n __fish_use_subcommand -a {} -d '{}'\n", row.name,
                        fish_text(row.summary));
  }
  for (const CommandRow& row : command_table()) {
    const std::string called =
        fmt::format("complete -c baton -n '__fish_seen_subcommand_from {}", row.name);
    for (std::size_t i = 0; i < row.arguments.size(); ++i) {
      // Where there are several, the words before the cursor say which it is.
      const std::string place =
          row.arguments.size() == 1
              ? called + "'"
              : fmt::format("{}; and test (count (commandline -opc)) -eq {}'", called, i + 2);
      const Completion& completion = row.arguments[i].completion;
      const bool named = completion.kind == Completion::Kind::kWords;
      text += named ? fmt::format("{} -a '{}'\n", place, completion.words) : place + " -F\n";
    }
    for (const OptionRow& option : all_options(row)) {
      text += called + "'";
      for (std::string_view name : option_names(option)) {
        const bool is_long = name.starts_with("--");
        name.remove_prefix(is_long ? 2 : 1);
        text += fmt::format(" {} {}", is_long ? "-l" : "-s", name);
      }
      if (!option.value.empty()) text += ' ' + fish_value(option.completion);
      text += fmt::format(" -d '{}'\n", fish_text(option.text));
    }
  }
  return text;
}

}  // namespace baton::cli
