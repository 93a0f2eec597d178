#include "cli/command_line/manual.h"

#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "tools/basics.h"

namespace baton::cli {
namespace {

// Text as man(7) shows it: hyphens that can be copied, and no character that begins a request.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      if (c == '.' && escaped.empty()) escaped += "\\&";
      escaped += c;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string entry(const std::string& term, std::string_view meaning) {
  return fmt::format(".TP\n{}\n{}.\n", term, roff(meaning));
}

std::string option_entry(const OptionRow& option) {
  std::vector<std::string> names;
  for (const std::string_view name : option_names(option)) names.push_back(bold(name));
  std::string term = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty()) (term += ' ') += italic(option.value);
  const std::string meaning =
      std::string(option.text) + (may_repeat(option) ? ". May be given several times" : "");
  return entry(term, meaning);
}

std::string head(std::string_view title, std::string_view name, std::string_view summary) {
  return fmt::format(
      ".TH {} 1 \"\" \"baton {}\" \"Baton\"\n.nh\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", title,
      BATON_VERSION, roff(name), roff(summary));
}

std::string upper(std::string_view name) {
  std::string text;
  for (const char c : name) text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string examples(const std::vector<ExampleRow>& rows) {
  if (rows.empty()) return {};
  std::string text = ".SH EXAMPLES\n";
  for (const ExampleRow& row : rows) {
    text += fmt::format(".TP\n{}:\n{}\n", roff(row.purpose), bold(row.call));
  }
  return text;
}

std::string surroundings(std::string_view own_status) {
  std::string text = ".SH EXIT STATUS\n";
  if (!own_status.empty()) text += entry(italic("N"), own_status);
  for (const ExitStatusRow& row : exit_statuses()) text += entry(bold(row.status), row.text);
  text += ".SH ENVIRONMENT\n";
  for (const EnvironmentRow& row : environment_variables()) text += entry(bold(row.name), row.text);
  return text;
}

std::string references(std::vector<std::string> pages) {
  for (std::string& page : pages) page = fmt::format("\\fB{}\\fR(1)", roff(page));
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

std::string general_page() {
  std::string page = head("BATON", "baton", "load, launch and check GPU kernels");
  page += "\\fBbaton\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  std::vector<std::string> pages;
  for (const CommandRow& row : command_table()) {
    page += entry(bold(row.name), row.summary);
    pages.push_back(fmt::format("baton-{}", row.name));
  }
  page += ".SH OPTIONS\n";
  for (const OptionRow& option : common_options()) page += option_entry(option);
  return page + surroundings({}) + references(std::move(pages));
}

}  // namespace

std::string manual_page(const CommandRow* command) {
  if (command == nullptr) return general_page();
  const std::string name = fmt::format("baton-{}", command->name);
  std::string page = head(upper(name), name, command->summary);
  page += roff(usage(*command)) + "\n.SH ARGUMENTS\n";
  if (command->arguments.empty() && command->rest.empty()) page += "None.\n";
  for (const ArgumentRow& row : command->arguments) page += entry(italic(row.name), row.text);
  if (!command->rest.empty()) page += entry(bold("--"), command->rest);
  page += ".SH OPTIONS\n";
  for (const OptionRow& option : all_options(*command)) page += option_entry(option);
  return page + examples(command->examples) + surroundings(command->own_status) +
         references({"baton"});
}

}  // namespace baton::cli
