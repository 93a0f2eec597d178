// The help and the versions as JSON.

#include <nlohmann/json.hpp>

#include "cli/command_line/command_table.h"
#include "cli/command_line/help.h"
#include "cli/output/output.h"
#include "tools/file/formats.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

// A file and a folder by these words; null where nothing is offered.
Json json_of(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::kNothing:
      return nullptr;
    case Completion::Kind::kFile:
      return "file";
    case Completion::Kind::kFolder:
      return "folder";
    case Completion::Kind::kWords:
      break;
  }
  Json words = Json::array();
  for (std::string_view left = completion.words; !left.empty();) {
    const std::size_t blank = std::min(left.find(' '), left.size());
    words.push_back(left.substr(0, blank));
    left.remove_prefix(std::min(blank + 1, left.size()));
  }
  return words;
}

Json json_of(const OptionRow& option) {
  return {{"names", option_names(option)},
          {"value", text_or_null(option.value)},
          {"text", option.text},
          {"repeats", may_repeat(option)},
          {"completion", json_of(option.completion)}};
}

template <typename Rows>
Json json_of_all(const Rows& rows) {
  Json list = Json::array();
  for (const OptionRow& row : rows) list.push_back(json_of(row));
  return list;
}

Json json_of(const CommandRow& command) {
  Json arguments = Json::array();
  for (const ArgumentRow& row : command.arguments) {
    arguments.push_back({{"name", row.name},
                         {"text", row.text},
                         {"needed", !row.need.empty()},
                         {"completion", json_of(row.completion)}});
  }
  Json examples = Json::array();
  for (const ExampleRow& row : command.examples) {
    examples.push_back({{"purpose", row.purpose}, {"call", row.call}});
  }
  return {{"name", command.name},
          {"summary", command.summary},
          {"usage", usage(command)},
          {"arguments", std::move(arguments)},
          {"options", json_of_all(all_options(command))},
          {"rest", text_or_null(command.rest)},
          {"own_status", text_or_null(command.own_status)},
          {"examples", std::move(examples)}};
}

}  // namespace

void add_help(std::string_view command, Json& result) {
  Json& commands = result["commands"] = Json::array();
  if (!command.empty()) {
    commands.push_back(json_of(named_command(command)));
    return;
  }
  for (const CommandRow& row : command_table()) commands.push_back(json_of(row));
  result["options"] = json_of_all(common_options());
  Json& statuses = result["exit_statuses"] = Json::array();
  for (const ExitStatusRow& row : exit_statuses()) {
    statuses.push_back({{"status", std::stoi(std::string(row.status))}, {"text", row.text}});
  }
  Json& variables = result["environment"] = Json::array();
  for (const EnvironmentRow& row : environment_variables()) {
    variables.push_back({{"name", row.name}, {"text", row.text}});
  }
}

std::string version_line() {
  return "baton " BATON_VERSION "\n";
}

void add_versions(Json& result) {
  Json& versions = result["versions"] = Json::object();
  versions["baton"] = BATON_VERSION;
  versions["json"] = kJsonVersion;
  for (const auto& [format, version] : tools::format_versions()) versions[format] = version;
}

}  // namespace baton::cli
