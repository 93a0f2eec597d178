#include "cli/report/advice_table.h"

#include <algorithm>
#include <functional>

#include "cli/output/format.h"
#include "cli/output/table.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

// More rows than this are not read.
constexpr std::size_t kMostAdvice = 8;
constexpr std::size_t kLongestAdvice = 300;

}  // namespace

void show_advice(std::vector<AdviceRow> rows, bool all, Output& output) {
  if (rows.empty()) return;
  std::ranges::stable_sort(rows, std::greater(),
                           [](const AdviceRow& row) { return row.advice.seconds; });
  if (!all && rows.size() > kMostAdvice) rows.resize(kMostAdvice);
  Table table({{"edge"}, {"may save", Table::Align::kRight}, {"by"}});
  for (const AdviceRow& row : rows) {
    table.add({row.edge, format_duration(row.advice.seconds),
               printable(row.advice.text, kLongestAdvice)});
  }
  output.text(fmt::format("\n{}", table.format(output.terminal())));
}

nlohmann::ordered_json json_of(const std::vector<EdgeAdvice>& advice) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const EdgeAdvice& each : advice) {
    list.push_back({{"text", each.text}, {"seconds", each.seconds}});
  }
  return list;
}

}  // namespace baton::cli
