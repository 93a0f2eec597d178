#include "image/cubin/debug_variables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "image/cubin/debug_types.h"

namespace baton::image {
namespace {

class NumberFinder {
 public:
  explicit NumberFinder(const DebugEntries& unit) : unit_(unit), types_(unit.all()) {}

  std::optional<DType> numbers_in(std::uint64_t type, int nesting) const {
    const std::optional<std::size_t> at = types_.at(type);
    if (!at || nesting == 0) return std::nullopt;
    const DwarfEntry& entry = unit_.all()[*at];
    if (const auto number = DebugTypes::number_of(entry)) return number;
    if (entry.tag == kTagArray) return numbers_in(entry.type, nesting - 1);
    if (entry.tag == kTagStruct || entry.tag == kTagClass) return common_number(*at, nesting - 1);
    return std::nullopt;
  }

 private:
  // That of all members.
  std::optional<DType> common_number(std::size_t of, int nesting) const {
    std::vector<std::optional<DType>> numbers;
    unit_.for_each_inside(of, [&](const DwarfEntry& member) {
      if (member.tag != kTagMember) return;
      const bool is_whole = member.bit_size == 0;
      numbers.push_back(is_whole ? numbers_in(member.type, nesting) : std::nullopt);
    });
    for (const auto& each : numbers) {
      if (each != numbers.front()) return std::nullopt;
    }
    return numbers.empty() ? std::nullopt : numbers.front();
  }

  const DebugEntries& unit_;
  const DebugTypes types_;
};

}  // namespace

DebugVariables debug_variables(const DebugEntries& entries) {
  const NumberFinder finder(entries);
  DebugVariables found;
  for (const DwarfEntry& entry : entries.all()) {
    if (entry.tag != kTagVariable) continue;
    const std::string_view symbol = entry.symbol.empty() ? entry.name : entry.symbol;
    if (symbol.empty()) continue;
    found.insert_or_assign(std::string(symbol),
                           finder.numbers_in(entry.type, DebugTypes::kMostNesting));
  }
  return found;
}

}  // namespace baton::image
