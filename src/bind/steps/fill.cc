#include "bind/steps/fill.h"

#include "program/scalar.h"

namespace baton::bind {

PlannedFill plan_step(const FillStep& step, const NameSlots& names, const BufferTable& buffers) {
  PlannedFill fill;
  fill.buffer = buffer_index(buffers, step.buffer);
  if (const auto* number = std::get_if<double>(&step.value)) {
    // The checks of the program have seen that the dtype holds it.
    fill.value = *encode_exact(buffers[fill.buffer].definition->dtype, *number);
  } else {
    fill.value = BoundExpression(std::get<Expression>(step.value).code(), names);
  }
  return fill;
}

std::string label_of(const FillStep& step) {
  return "fill " + step.buffer;
}

bool uses_slot(const PlannedFill& step, std::size_t slot) {
  const auto* value = std::get_if<BoundExpression>(&step.value);
  return value != nullptr && value->uses_slot(slot);
}

PlannedFill::Values evaluate(const PlannedFill& step, Slots slots, const BufferTable& buffers) {
  if (const auto* bits = std::get_if<std::uint64_t>(&step.value)) return {*bits};
  const auto& expression = std::get<BoundExpression>(step.value);
  const ProgramBuffer& buffer = *buffers[step.buffer].definition;
  const std::int64_t value = expression.evaluate(slots);
  const auto bits = encode_exact(buffer.dtype, value);
  if (!bits) {
    fail_at(expression, slots, "fill of {}: {} does not hold {} exactly", buffer.name,
            to_string(buffer.dtype), value);
  }
  return {*bits};
}

}  // namespace baton::bind
