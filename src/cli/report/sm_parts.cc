#include "cli/report/sm_parts.h"

#include <fmt/core.h>
#include <fmt/format.h>

namespace baton::cli {

std::string format_sm_parts(const std::vector<SmPartReport>& parts, const Terminal& terminal) {
  if (parts.empty()) return {};
  using enum Table::Align;
  Table table({{"part"}, {"SMs", kRight}, {"asked", kRight}, {"launches"}});
  for (std::size_t number = 0; number < parts.size(); ++number) {
    const SmPartReport& part = parts[number];
    table.add({std::to_string(number), std::to_string(part.given), std::to_string(part.asked),
               fmt::format("{}", fmt::join(part.launches, ", "))});
  }
  return "\n" + table.format(terminal);
}

}  // namespace baton::cli
