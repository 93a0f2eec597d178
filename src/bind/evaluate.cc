#include "bind/evaluate.h"

#include <array>

#include "base/error.h"
#include "program/scalar.h"

namespace baton::bind {
namespace {

using Slots = std::span<const std::int64_t>;
using Extents = std::array<std::int64_t, 3>;

// An error at an expression that says what its names are worth.
template <typename... Args>
[[noreturn]] void fail(const BoundExpression& expression, Slots slots,
                       fmt::format_string<Args...> format, Args&&... args) {
  const ExpressionCode& code = expression.code();
  throw error_at(code.where, ErrorCode::kInvalidInput, "{}{}",
                 fmt::format(format, std::forward<Args>(args)...), expression.values_text(slots));
}

Extents extents(const std::vector<BoundExpression>& expressions, Slots slots, const char* what,
                std::int64_t least) {
  Extents result = {1, 1, 1};
  for (std::size_t axis = 0; axis < expressions.size(); ++axis) {
    const BoundExpression& expression = expressions[axis];
    result[axis] = expression.evaluate(slots);
    if (result[axis] < least) {
      fail(expression, slots, "the {} extent {} is {}, it must be at least {}", what,
           expression.code().text, result[axis], least);
    }
  }
  return result;
}

Dim3 to_dim3(const Extents& extent) {
  return Dim3(extent[0], extent[1], extent[2]);
}

std::uint32_t shared_bytes(const std::optional<BoundExpression>& expression, Slots slots) {
  if (!expression) return 0;
  const std::int64_t bytes = expression->evaluate(slots);
  if (bytes < 0 || bytes > UINT32_MAX) {
    fail(*expression, slots, "{} bytes of dynamic shared memory, it must be 0 to {}", bytes,
         UINT32_MAX);
  }
  return static_cast<std::uint32_t>(bytes);
}

// The first element of one side of a copy.
std::int64_t copy_offset(const std::optional<BoundExpression>& expression, Slots slots,
                         const BoundBuffer& buffer) {
  if (!expression) return 0;
  const std::int64_t offset = expression->evaluate(slots);
  if (offset < 0 || offset > buffer.elements) {
    fail(*expression, slots, "the copy starts at {} + {}, outside the buffer of {} elements",
         buffer.definition->name, offset, buffer.elements);
  }
  return offset;
}

void check_count(const BoundExpression& expression, Slots slots, const BoundBuffer& buffer,
                 std::int64_t offset, std::int64_t count) {
  if (count < 0 || count > buffer.elements - offset) {
    fail(expression, slots, "a copy of {} elements at {} + {} leaves the buffer of {} elements",
         count, buffer.definition->name, offset, buffer.elements);
  }
}

}  // namespace

// The stream decides the device too.
bool same_config(const LaunchConfig& a, const LaunchConfig& b) {
  return a.grid == b.grid && a.block == b.block && a.shared == b.shared &&
         a.stream.native == b.stream.native && a.stream.device == b.stream.device &&
         a.attributes == b.attributes;
}

LaunchValues evaluate(const PlannedLaunch& step, Slots slots, const BufferTable& buffers) {
  LaunchValues values;
  const Extents grid = extents(step.grid, slots, "grid", 0);
  for (const std::int64_t extent : grid) values.skipped = values.skipped || extent == 0;
  if (values.skipped) return values;
  values.config.grid = to_dim3(grid);
  values.config.block = to_dim3(extents(step.block, slots, "block", 1));
  values.config.shared = shared_bytes(step.shared, slots);
  for (const PlannedAttribute& attribute : step.attributes) {
    values.config.attributes.set(attribute.evaluate(slots, buffers));
  }
  return values;
}

CopyValues evaluate(const PlannedCopy& step, Slots slots, const BufferTable& buffers) {
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

std::uint64_t evaluate(const PlannedFill& step, Slots slots, const BufferTable& buffers) {
  if (const auto* bits = std::get_if<std::uint64_t>(&step.value)) return *bits;
  const auto& expression = std::get<BoundExpression>(step.value);
  const ProgramBuffer& buffer = *buffers[step.buffer].definition;
  const std::int64_t value = expression.evaluate(slots);
  const auto bits = encode_exact(buffer.dtype, value);
  if (!bits) {
    fail(expression, slots, "fill of {}: {} does not hold {} exactly", buffer.name,
         to_string(buffer.dtype), value);
  }
  return *bits;
}

std::uint64_t evaluate(const PlannedRepeat& step, Slots slots) {
  const std::int64_t count = step.count.evaluate(slots);
  if (count < 0) fail(step.count, slots, "the count of the repeat is {}, a negative number", count);
  return static_cast<std::uint64_t>(count);
}

}  // namespace baton::bind
