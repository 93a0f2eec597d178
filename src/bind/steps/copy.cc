#include "bind/steps/copy.h"

namespace baton::bind {
namespace {

// The first element of one side of a copy.
std::int64_t copy_offset(const std::optional<BoundExpression>& expression, Slots slots,
                         const BoundBuffer& buffer) {
  if (!expression) return 0;
  const std::int64_t offset = expression->evaluate(slots);
  if (offset < 0 || offset > buffer.elements) {
    fail_at(*expression, slots, "the copy starts at {} + {}, outside the buffer of {} elements",
            buffer.definition->name, offset, buffer.elements);
  }
  return offset;
}

void check_count(const BoundExpression& expression, Slots slots, const BoundBuffer& buffer,
                 std::int64_t offset, std::int64_t count) {
  if (count < 0 || count > buffer.elements - offset) {
    fail_at(expression, slots, "a copy of {} elements at {} + {} leaves the buffer of {} elements",
            count, buffer.definition->name, offset, buffer.elements);
  }
}

}  // namespace

PlannedCopy plan_step(const CopyStep& step, const NameSlots& names, const BufferTable& buffers) {
  return {buffer_index(buffers, step.from.buffer), buffer_index(buffers, step.to.buffer),
          bind_expression(step.from.offset, names), bind_expression(step.to.offset, names),
          bind_expression(step.count, names)};
}

std::string label_of(const CopyStep& step) {
  return "copy " + place_text(step.from) + " -> " + place_text(step.to);
}

bool uses_slot(const PlannedCopy& step, std::size_t slot) {
  return uses_slot(step.from_offset, slot) || uses_slot(step.to_offset, slot) ||
         uses_slot(step.count, slot);
}

PlannedCopy::Values evaluate(const PlannedCopy& step, Slots slots, const BufferTable& buffers) {
  const BoundBuffer& from = buffers[step.from];
  const BoundBuffer& to = buffers[step.to];
  const std::int64_t from_offset = copy_offset(step.from_offset, slots, from);
  const std::int64_t to_offset = copy_offset(step.to_offset, slots, to);
  std::int64_t count = from.elements - from_offset;
  if (step.count) {
    count = step.count->evaluate(slots);
    check_count(*step.count, slots, from, from_offset, count);
    check_count(*step.count, slots, to, to_offset, count);
  } else if (count != to.elements - to_offset) {
    throw error(ErrorCode::kInvalidInput,
                "copy: {} elements of {} for {} elements of {}; sizes must be equal unless count "
                "is given",
                count, from.definition->name, to.elements - to_offset, to.definition->name);
  }
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * from.element_size();
  };
  if (step.from == step.to || (from.given && to.given)) {
    const std::uint64_t source = from.given.value_or(0) + bytes(from_offset);
    const std::uint64_t target = to.given.value_or(0) + bytes(to_offset);
    if (count > 0 && source < target + bytes(count) && target < source + bytes(count)) {
      throw error(ErrorCode::kInvalidInput,
                  "copy: elements {} to {} of {} overlap elements {} to {} of {}, which they are "
                  "copied to",
                  from_offset, from_offset + count - 1, from.definition->name, to_offset,
                  to_offset + count - 1, to.definition->name);
    }
  }
  return {bytes(from_offset), bytes(to_offset), bytes(count)};
}

}  // namespace baton::bind
