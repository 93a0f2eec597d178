#include "cli/command_line/help.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/command_line/command_table.h"
#include "cli/output/output.h"
#include "cli/output/wrap.h"

namespace baton::cli {
namespace {

constexpr std::size_t kWidest = 100;
constexpr std::size_t kUsual = 80;  // columns of whoever reads a pipe, such as less
constexpr std::size_t kIndent = 2;
constexpr std::size_t kWidestTerm = 22;  // a longer one has a line to itself

using Entry = std::pair<std::string, std::string_view>;  // a term and what it means

std::size_t width_of_lines(const Terminal& terminal) {
  return terminal.width == Terminal().width ? kUsual : std::min(terminal.width, kWidest);
}

class HelpWriter {
 public:
  explicit HelpWriter(Terminal terminal)
      : colour_(terminal.colour), width_(width_of_lines(terminal)) {}

  void paragraph(std::string_view text) {
    for (const std::string& line : wrapped(text, width_)) text_ += line + '\n';
  }

  void section(std::string_view title) {
    text_ += '\n' + styled(std::string(title) + ":", Style::kBold, colour_) + '\n';
  }

  // Terms in one column, their meanings in another.
  void list(std::string_view title, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    section(title);
    std::size_t term_width = 0;
    for (const auto& [term, meaning] : entries) {
      if (term.size() <= kWidestTerm) term_width = std::max(term_width, term.size());
    }
    const std::size_t column = kIndent + term_width + 2;
    for (const auto& [term, meaning] : entries) {
      std::string line = std::string(kIndent, ' ') + term;
      if (term.size() > term_width) {
        text_ += line + '\n';
        line.clear();
      }
      for (const std::string& part : wrapped(meaning, width_ - column)) {
        line.resize(column, ' ');
        text_ += line + part + '\n';
        line.clear();
      }
    }
  }

  // A call stays one line, so that it can be copied.
  void examples(const std::vector<ExampleRow>& examples) {
    if (examples.empty()) return;
    section("Examples");
    for (const ExampleRow& example : examples) {
      text_ += fmt::format("  {}:\n    {}\n", example.purpose, example.call);
    }
  }

  std::string text() && { return std::move(text_); }

 private:
  bool colour_;
  std::size_t width_;
  std::string text_;
};

std::vector<Entry> entries(const std::vector<OptionRow>& options) {
  std::vector<Entry> entries;
  for (const OptionRow& option : options) {
    std::string term = fmt::format("{}", fmt::join(option_names(option), ", "));
    if (!option.value.empty()) (term += ' ') += option.value;
    entries.emplace_back(std::move(term), option.text);
  }
  return entries;
}

std::vector<Entry> status_entries(std::string_view own) {
  std::vector<Entry> entries;
  if (!own.empty()) entries.emplace_back("N", own);
  for (const ExitStatusRow& row : exit_statuses()) entries.emplace_back(row.status, row.text);
  return entries;
}

std::string general_help(Terminal terminal) {
  HelpWriter help(terminal);
  help.paragraph("Baton loads, launches and checks GPU kernels, on a GPU or without one.");
  help.section("Usage");
  help.paragraph("  baton COMMAND [ARGUMENTS] [OPTIONS]");
  std::vector<Entry> commands;
  for (const CommandRow& row : command_table()) commands.emplace_back(row.name, row.summary);
  help.list("Commands", commands);
  const auto common = common_options();
  help.list("Options of every command", entries({common.begin(), common.end()}));
  help.examples({{"See what is installed and what is missing", "baton doctor"},
                 {"Start with a kernel of your own", "baton init k.cu && baton run k.toml"},
                 {"See the options of a command", "baton help run"}});
  help.list("Exit status", status_entries({}));
  std::vector<Entry> variables;
  for (const EnvironmentRow& row : environment_variables())
    variables.emplace_back(row.name, row.text);
  help.list("Environment", variables);
  return std::move(help).text();
}

}  // namespace

std::string help_text(std::string_view command, Terminal terminal) {
  if (command.empty()) return general_help(terminal);
  const CommandRow& row = named_command(command);
  HelpWriter help(terminal);
  help.paragraph(row.summary);
  help.section("Usage");
  help.paragraph(fmt::format("  {}", usage(row)));
  std::vector<Entry> arguments;
  for (const ArgumentRow& argument : row.arguments) {
    arguments.emplace_back(argument.name, argument.text);
  }
  if (!row.rest.empty()) arguments.emplace_back("-- ...", row.rest);
  help.list("Arguments", arguments);
  help.list("Options", entries(all_options(row)));
  help.examples(row.examples);
  help.list("Exit status", status_entries(row.own_status));
  help.section("More");
  help.paragraph("  baton --help lists the environment variables.");
  return std::move(help).text();
}

}  // namespace baton::cli
