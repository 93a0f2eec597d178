#include <array>
#include <tuple>

#include "program/expression/scope.h"
#include "program/reader/reader.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"
#include "program/writer/writer.h"

// repeat = "L", index = "layer", steps = [ ... ]

namespace baton {
namespace {

constexpr std::array<std::string_view, 3> kRepeatKeys = {"repeat", "index", "steps"};

StepAction read_repeat(const StepSource& source) {
  const TableReader table(source.document, source.node, source.what, kRepeatKeys);
  RepeatStep repeat;
  repeat.count = *table.expression("repeat");
  repeat.index = table.string("index").value_or("");
  if (table.find("index") != nullptr && repeat.index.empty()) {
    throw error_at(source.document.place(*table.find("index")), ErrorCode::kInvalidInput,
                   "the index of {} has an empty name", source.what);
  }
  repeat.steps = read_steps(source.document, table.require("steps"), source.what + '.');
  return repeat;
}

auto parts(const RepeatStep& step) {
  return std::tie(step.count, step.index, step.steps);
}

}  // namespace

const StepKind kRepeatStepKind = {"repeat", read_repeat};

void check_step(RepeatStep& step, ProgramScope& scope, const SourceLocation& where) {
  scope.check(step.count, "the count of the repeat", 0);
  if (step.steps.empty()) throw error(ErrorCode::kInvalidInput, "the repeat has no steps");
  scope.open_group(step.index, where);
  check_steps(step.steps, scope);
  scope.close_group(step.index);
}

bool equal_steps(const RepeatStep& a, const RepeatStep& b) {
  return parts(a) == parts(b);
}

void write_step(const RepeatStep& step, TomlTable& table) {
  table.add("repeat", toml_expression(step.count));
  table.add_text("index", step.index);
  table.add("steps", toml_steps(step.steps));
}

}  // namespace baton
