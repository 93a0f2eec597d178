#include "bind/evaluate.h"

#include <array>

#include "base/error.h"

namespace baton::bind {
namespace {

using Extents = std::array<std::int64_t, 3>;

Extents extents(const std::vector<BoundExpression>& expressions, Slots slots, const char* what,
                std::int64_t least) {
  Extents result = {1, 1, 1};
  for (std::size_t axis = 0; axis < expressions.size(); ++axis) {
    const BoundExpression& expression = expressions[axis];
    result[axis] = expression.evaluate(slots);
    if (result[axis] < least) {
      fail_at(expression, slots, "{}.{} is {} = {}, it must be at least {}", what, "xyz"[axis],
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
    fail_at(*expression, slots, "{} bytes of dynamic shared memory, it must be 0 to {}", bytes,
            UINT32_MAX);
  }
  return static_cast<std::uint32_t>(bytes);
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

std::uint64_t evaluate(const PlannedRepeat& step, Slots slots) {
  const std::int64_t count = step.count.evaluate(slots);
  if (count < 0)
    fail_at(step.count, slots, "the count of the repeat is {}, a negative number", count);
  return static_cast<std::uint64_t>(count);
}

}  // namespace baton::bind
