#include <array>

#include "program/check/same_value.h"
#include "program/expression/expression_code.h"
#include "program/expression/scope.h"
#include "program/scalar.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"

// fill = { buffer = "x", value = 0 }

namespace baton {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::array<std::string_view, 1> kFillStepKeys = {"fill"};
constexpr std::array<std::string_view, 2> kFillKeys = {"buffer", "value"};

StepAction read_fill(const StepSource& source) {
  const TableReader step(source.document, source.node, source.what, kFillStepKeys);
  const TableReader table(source.document, step.require("fill"), "fill of " + source.what,
                          kFillKeys);
  FillStep fill;
  fill.buffer = table.required_string("buffer");
  const DocumentNode& value = table.require("value");
  if (value.kind == Kind::kFloat) {
    fill.value = value.real;
  } else if (value.kind == Kind::kBool) {
    fill.value = Expression(value.integer);
  } else {
    fill.value = table.expression_of(value, "value");
  }
  return fill;
}

}  // namespace

const StepKind kFillStepKind = {"fill", read_fill};

void check_step(FillStep& step, ProgramScope& scope, const SourceLocation& where) {
  const ProgramBuffer& target = scope.buffer(step.buffer, where);
  scope.check_writable(target, "fill");
  if (const auto* number = std::get_if<double>(&step.value)) {
    if (!encode_exact(target.dtype, *number)) {
      throw error(ErrorCode::kInvalidInput, "fill of {}: {} does not hold {} exactly", target.name,
                  to_string(target.dtype), *number);
    }
    return;
  }
  const auto& expression = std::get<Expression>(step.value);
  scope.check_names(*expression.code());
  const auto literal = expression.literal();
  if (literal && !encode_exact(target.dtype, *literal)) {
    throw error_at(expression.where(), ErrorCode::kInvalidInput,
                   "fill of {}: {} does not hold {} exactly", target.name, to_string(target.dtype),
                   *literal);
  }
}

bool equal_steps(const FillStep& a, const FillStep& b) {
  return a.buffer == b.buffer && same_value(a.value, b.value);
}

void write_step(const FillStep& step, TomlTable& table) {
  TomlTable fill;
  fill.add("buffer", toml_string(step.buffer));
  const auto* number = std::get_if<double>(&step.value);
  fill.add("value", number != nullptr ? toml_float(*number)
                                      : toml_expression(std::get<Expression>(step.value)));
  table.add("fill", fill.as_value());
}

}  // namespace baton
