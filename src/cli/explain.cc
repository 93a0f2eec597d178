#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/table.h"
#include "tools/explanations.h"
#include "tools/guides.h"

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
               plain(row.meaning), tools::guide_place(row.page)});
  }
  output.text(table.format(output.terminal()));
  if (command.code.empty()) return;
  const bool is_one_code = std::ranges::all_of(
      rows, [&](const tools::Explanation& row) { return row.id == rows[0].id; });
  for (const tools::Explanation& row : rows) {
    const std::string of = rows.size() == 1 ? ""
                           : is_one_code    ? fmt::format(" ({})", row.table)
                                            : fmt::format(" against {}", row.id);
    output.text(fmt::format("what helps{}: {}\n", of, plain(row.remedy)));
  }
}

}  // namespace baton::cli
