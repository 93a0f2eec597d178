#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/table.h"
#include "tools/explanations.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const tools::Explanation& row) {
  return {{"code", row.id},         {"table", row.table},   {"detail", row.detail},
          {"meaning", row.meaning}, {"remedy", row.remedy}, {"page", row.page}};
}

// The meanings are Markdown, for the pages.
std::string plain(std::string_view markdown) {
  std::string text;
  for (const char c : markdown) {
    if (c != '`') text += c;
  }
  return text;
}

}  // namespace

void explain(const ExplainCommand& command, Output& output) {
  const std::vector<tools::Explanation> rows =
      command.code.empty() ? tools::explanations() : tools::explain(command.code);
  Json& list = output.result()["codes"] = Json::array();
  Table table({{"code"}, {"is a"}, {""}, {"meaning"}, {"page"}});
  for (const tools::Explanation& row : rows) {
    list.push_back(json_of(row));
    table.add({std::string(row.id), std::string(row.table), std::string(row.detail),
               plain(row.meaning), "docs/" + std::string(row.page)});
  }
  output.text(table.format(output.terminal()));
  if (command.code.empty()) return;
  for (const tools::Explanation& row : rows) {
    const std::string of = rows.size() == 1 ? "" : fmt::format(" ({})", row.table);
    output.text(fmt::format("what helps{}: {}\n", of, plain(row.remedy)));
  }
}

}  // namespace baton::cli
