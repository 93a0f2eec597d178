#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/output/table.h"
#include "cli/output/wrap.h"
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

// One code in lines that fit the terminal: what it is, what it means, what helps, where to read.
void show_code(const tools::Explanation& row, Output& output) {
  constexpr std::size_t kMargin = 2;
  output.line("{}: {}, {}", row.id, row.table, row.detail);
  for (const std::string& part : {plain(row.meaning), "what helps: " + plain(row.remedy),
                                  "read: " + tools::guide_place(row.page)}) {
    for (const std::string& line : wrapped(part, output.terminal().width - kMargin)) {
      output.line("{:{}}{}", "", kMargin, line);
    }
  }
}

}  // namespace

void explain(const ExplainCommand& command, Output& output) {
  const std::vector<tools::Explanation> rows =
      command.code.empty() ? tools::explanations() : tools::explain(command.code);
  Json& list = output.result()["codes"] = Json::array();
  for (const tools::Explanation& row : rows) list.push_back(json_of(row));
  const bool is_one_code = std::ranges::all_of(
      rows, [&](const tools::Explanation& row) { return row.id == rows[0].id; });
  if (is_one_code) {
    for (const tools::Explanation& row : rows) show_code(row, output);
    return;
  }
  Table table({{"code"}, {"is a"}, {""}, {"meaning"}});
  for (const tools::Explanation& row : rows) {
    table.add(
        {std::string(row.id), std::string(row.table), std::string(row.detail), plain(row.meaning)});
  }
  output.text(table.format(output.terminal()));
  if (!command.code.empty()) {
    for (const tools::Explanation& row : rows) {
      output.line("what helps against {}: {}", row.id, plain(row.remedy));
    }
  }
  output.line("\nbaton explain CODE says what helps, and where to read");
}

}  // namespace baton::cli
