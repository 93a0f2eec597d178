#include <array>
#include <tuple>

#include "program/expression/scope.h"
#include "program/reader/argument_reader.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"

// copy = { from = "x", to = "y + N", count = "N" }

namespace baton {
namespace {

constexpr std::array<std::string_view, 1> kCopyStepKeys = {"copy"};
constexpr std::array<std::string_view, 3> kCopyKeys = {"from", "to", "count"};

StepAction read_copy(const StepSource& source) {
  const TableReader step(source.document, source.node, source.what, kCopyStepKeys);
  const TableReader table(source.document, step.require("copy"), "copy of " + source.what,
                          kCopyKeys);
  return CopyStep{read_place(table, "from"), read_place(table, "to"), table.expression("count")};
}

auto parts(const CopyStep& step) {
  return std::tie(step.from, step.to, step.count);
}

}  // namespace

const StepKind kCopyStepKind = {"copy", read_copy};

void check_step(CopyStep& step, ProgramScope& scope, const SourceLocation&) {
  const ProgramBuffer& from = scope.check(step.from);
  const ProgramBuffer& to = scope.check(step.to);
  if (from.dtype != to.dtype) {
    throw error(ErrorCode::kInvalidInput,
                "copy from {} to {}: the dtypes {} and {} differ, a copy does not convert",
                from.name, to.name, to_string(from.dtype), to_string(to.dtype));
  }
  scope.check_writable(to, "copy");
  if (step.count) scope.check(*step.count, "the count of the copy", 0);
}

bool equal_steps(const CopyStep& a, const CopyStep& b) {
  return parts(a) == parts(b);
}

void write_step(const CopyStep& step, TomlTable& table) {
  TomlTable copy;
  copy.add("from", toml_place(step.from));
  copy.add("to", toml_place(step.to));
  copy.add_if("count", step.count);
  table.add("copy", copy.as_value());
}

}  // namespace baton
