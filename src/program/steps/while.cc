#include <array>
#include <tuple>

#include "program/expression/scope.h"
#include "program/reader/reader.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"
#include "program/writer/writer.h"

// while = { buffer = "go", at_most = "T", unroll = 8 }, steps = [ ... ]

namespace baton {
namespace {

constexpr std::array<std::string_view, 2> kWhileStepKeys = {"while", "steps"};
constexpr std::array<std::string_view, 3> kWhileKeys = {"buffer", "at_most", "unroll"};

StepAction read_while(const StepSource& source) {
  const TableReader step(source.document, source.node, source.what, kWhileStepKeys);
  const TableReader table(source.document, step.require("while"), "while of " + source.what,
                          kWhileKeys);
  WhileStep result;
  result.buffer = table.required_string("buffer");
  result.at_most = table.expression_of(table.require("at_most"), "at_most");
  if (const auto unroll = table.expression("unroll")) result.unroll = *unroll;
  result.steps = read_steps(source.document, step.require("steps"), source.what + '.');
  return result;
}

auto while_parts(const WhileStep& step) {
  return std::tie(step.buffer, step.at_most, step.unroll, step.steps);
}

}  // namespace

const StepKind kWhileStepKind = {"while", read_while};

void check_step(WhileStep& step, ProgramScope& scope, const SourceLocation& where) {
  scope.check_condition(step.buffer, where);
  scope.check(step.at_most, "at_most of the while", 0);
  scope.check(step.unroll, "unroll of the while", 1);
  if (step.steps.empty()) throw error(ErrorCode::kInvalidInput, "the while has no steps");
  scope.open_group({}, where);
  check_steps(step.steps, scope);
  scope.close_group({});
}

bool equal_steps(const WhileStep& a, const WhileStep& b) {
  return while_parts(a) == while_parts(b);
}

void write_step(const WhileStep& step, TomlTable& table) {
  TomlTable test;
  test.add("buffer", toml_string(step.buffer));
  test.add("at_most", toml_expression(step.at_most));
  test.add("unroll", toml_expression(step.unroll));
  table.add("while", test.as_value());
  table.add("steps", toml_steps(step.steps));
}

}  // namespace baton
