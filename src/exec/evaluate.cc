#include "exec/evaluate.h"

#include <array>

#include "base/error.h"
#include "program/scalar.h"

namespace baton::exec {
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

LaunchValues evaluate(PlannedLaunch& step, Slots slots, const BufferTable& buffers) {
  LaunchValues values;
  const Extents grid = extents(step.grid, slots, "grid", 0);
  for (const std::int64_t extent : grid) values.skipped = values.skipped || extent == 0;
  if (values.skipped) return values;
  values.config.grid = to_dim3(grid);
  values.config.block = to_dim3(extents(step.block, slots, "block", 1));
  const Extents cluster = extents(step.cluster, slots, "cluster", 1);
  if (cluster != Extents{1, 1, 1}) {
    throw error_at(step.cluster[0].code().where, ErrorCode::kInvalidInput,
                   "a cluster of ({}, {}, {}) blocks is not supported by this release, only one of "
                   "a single block",
                   cluster[0], cluster[1], cluster[2]);
  }
  values.config.shared = shared_bytes(step.shared, slots);
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    if (!step.args[i].varies()) continue;
    step.args[i].write(slots, buffers, step.bytes.data() + step.offsets[i]);
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
  if (step.from == step.to && from_offset < to_offset + count && to_offset < from_offset + count &&
      count > 0) {
    throw error(ErrorCode::kInvalidInput,
                "copy: elements {} to {} of {} overlap elements {} to {}, which they are copied to",
                from_offset, from_offset + count - 1, from.definition->name, to_offset,
                to_offset + count - 1);
  }
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * from.element_size();
  };
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

}  // namespace baton::exec
