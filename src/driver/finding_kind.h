#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace baton::driver {

// What a simulated GPU can find: one row of findings.inc each.
enum class FindingKind : std::uint8_t {
#define BATON_FINDING(name, id, severity, page, meaning) name,
#include "driver/findings.inc"
#undef BATON_FINDING
};

enum class FindingSeverity : std::uint8_t { kWarning, kError, kFault, kErrorOrFault };

struct FindingRow {
  FindingKind kind;
  std::string_view id;  // "out_of_bounds"
  FindingSeverity severity;
  std::string_view page;     // "simulator.md"
  std::string_view meaning;  // one sentence, in Markdown
};

// Every kind, in the order of the enumerators.
std::span<const FindingRow> finding_table();
// The id of the kind, which JSON results and the documentation use.
std::string_view to_string(FindingKind kind);
// Every kind is either an error or a warning, whatever the case.
bool is_error(FindingKind kind);

}  // namespace baton::driver
