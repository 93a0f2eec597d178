#include "bind/steps/test.h"

namespace baton::bind {
namespace {

// More make a graph that takes minutes to build.
constexpr std::int64_t kMostUnrolledTurns = std::int64_t{1} << 16;

std::uint64_t count_in(const BoundExpression& expression, Slots slots, const char* what,
                       std::int64_t least, std::int64_t most) {
  const std::int64_t count = expression.evaluate(slots);
  if (count < least || count > most) {
    fail_at(expression, slots, "{} of the while is {}, it must be {} to {}", what, count, least,
            most);
  }
  return static_cast<std::uint64_t>(count);
}

}  // namespace

PlannedTest plan_test(const IfStep& step, const NameSlots&, const BufferTable& buffers) {
  return {buffer_index(buffers, step.buffer), std::nullopt, std::nullopt};
}

PlannedTest plan_test(const WhileStep& step, const NameSlots& names, const BufferTable& buffers) {
  return {buffer_index(buffers, step.buffer), bind_expression(step.at_most, names),
          bind_expression(step.unroll, names)};
}

std::string label_of(const IfStep& step) {
  return "if " + step.buffer;
}

std::string label_of(const WhileStep& step) {
  return "while " + step.buffer;
}

bool uses_slot(const PlannedTest& test, std::size_t slot) {
  return uses_slot(test.at_most, slot) || uses_slot(test.unroll, slot);
}

PlannedTest::Values evaluate(const PlannedTest& test, Slots slots, const BufferTable& buffers) {
  const BoundBuffer& buffer = buffers[test.buffer];
  if (buffer.elements == 0) {
    throw error(ErrorCode::kInvalidInput,
                "the step tests the first element of {}, which has no elements",
                buffer.definition->name);
  }
  if (!test.is_loop()) return {};
  return {count_in(*test.at_most, slots, "at_most", 0, INT64_MAX),
          count_in(*test.unroll, slots, "unroll", 1, kMostUnrolledTurns)};
}

}  // namespace baton::bind
