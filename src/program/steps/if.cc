#include <array>
#include <tuple>

#include "program/expression/scope.h"
#include "program/reader/reader.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"
#include "program/writer/writer.h"

// if = { buffer = "go" }, steps = [ ... ]

namespace baton {
namespace {

constexpr std::array<std::string_view, 2> kIfStepKeys = {"if", "steps"};
constexpr std::array<std::string_view, 1> kIfKeys = {"buffer"};

StepAction read_if(const StepSource& source) {
  const TableReader step(source.document, source.node, source.what, kIfStepKeys);
  const TableReader table(source.document, step.require("if"), "if of " + source.what, kIfKeys);
  IfStep result;
  result.buffer = table.required_string("buffer");
  result.steps = read_steps(source.document, step.require("steps"), source.what + '.');
  return result;
}

}  // namespace

const StepKind kIfStepKind = {"if", read_if};

void check_step(IfStep& step, ProgramScope& scope, const SourceLocation& where) {
  scope.check_condition(step.buffer, where);
  if (step.steps.empty()) throw error(ErrorCode::kInvalidInput, "the if has no steps");
  scope.open_group({}, where);
  check_steps(step.steps, scope);
  scope.close_group({});
}

bool equal_steps(const IfStep& a, const IfStep& b) {
  return std::tie(a.buffer, a.steps) == std::tie(b.buffer, b.steps);
}

void write_step(const IfStep& step, TomlTable& table) {
  TomlTable test;
  test.add("buffer", toml_string(step.buffer));
  table.add("if", test.as_value());
  table.add("steps", toml_steps(step.steps));
}

}  // namespace baton
