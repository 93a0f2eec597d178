#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "baton/program.h"
#include "program/expression/expression_code.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Whatever is taken must hold what Program promises: no argument is left as text, and an expression
// reads back from its own text.
void check(const baton::Expression& expression) {
  require(baton::Expression(expression.text()) == expression);
}

void check(const std::vector<baton::ProgramStep>& steps) {
  for (const baton::ProgramStep& step : steps) {
    if (const auto* launch = std::get_if<baton::LaunchStep>(&step.action)) {
      for (const baton::Expression& extent : launch->grid) check(extent);
      for (const baton::LaunchArgument& argument : launch->args) {
        require(!std::holds_alternative<std::string>(argument.value));
        const auto* map = std::get_if<baton::TensorMapArgument>(&argument.value);
        if (map == nullptr) continue;
        for (const auto* list : {&map->shape, &map->strides, &map->box, &map->element_strides}) {
          for (const baton::Expression& extent : *list) check(extent);
        }
      }
    } else if (const auto* group = std::get_if<baton::RepeatStep>(&step.action)) {
      check(group->count);
      check(group->steps);
    } else if (const auto* test = std::get_if<baton::IfStep>(&step.action)) {
      check(test->steps);
    } else if (const auto* loop = std::get_if<baton::WhileStep>(&step.action)) {
      check(loop->at_most);
      check(loop->unroll);
      check(loop->steps);
    }
  }
}

bool is_refusal(const baton::Error& failure) {
  return failure.code() == baton::ErrorCode::kInvalidInput ||
         failure.code() == baton::ErrorCode::kNotFound;
}

// The text as one expression, with the same value for every name.
void evaluate(baton::ExpressionCode::Kind kind, std::string_view text, std::int64_t value) {
  try {
    const auto code = baton::parse_expression(kind, text, {});
    const std::vector<std::int64_t> values(code->names.size(), value);
    if (kind == baton::ExpressionCode::Kind::kFloat) {
      code->evaluate_float(values);
    } else {
      const std::int64_t result = code->evaluate(values);
      if (!values.empty()) baton::solve_for(*code, 0, values, result);
    }
  } catch (const baton::Error& failure) {
    require(is_refusal(failure));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const baton::Program program = baton::Program::from_text(text, "input");
    check(program.steps());
    require(program == program);
    require(baton::Program::from_text(program.to_toml(), "input") == program);
  } catch (const baton::Error& failure) {
    require(is_refusal(failure));
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{7}, INT64_MIN}) {
    evaluate(baton::ExpressionCode::Kind::kInteger, text, value);
    evaluate(baton::ExpressionCode::Kind::kFloat, text, value);
  }
  return 0;
}
