#include "driver/finding_kind.h"

#include <cstddef>

namespace baton::driver {
namespace {

constexpr FindingRow kRows[] = {
#define BATON_FINDING(name, id, severity, page, meaning) \
  {FindingKind::name, id, FindingSeverity::severity, page, meaning},
#include "driver/findings.inc"
#undef BATON_FINDING
};

const FindingRow& row_of(FindingKind kind) {
  return kRows[static_cast<std::size_t>(kind)];
}

}  // namespace

std::span<const FindingRow> finding_table() {
  return kRows;
}

std::string_view to_string(FindingKind kind) {
  return row_of(kind).id;
}

bool is_error(FindingKind kind) {
  return row_of(kind).severity != FindingSeverity::kWarning;
}

}  // namespace baton::driver
