#include "bind/shards.h"

#include <cstring>
#include <functional>
#include <numeric>

#include "base/array.h"
#include "base/error.h"

namespace baton::bind {

std::vector<std::int64_t> whole_shape(const BoundBuffer& buffer) {
  std::vector<std::int64_t> shape = buffer.shape;
  if (buffer.shard) shape[buffer.shard->axis] *= static_cast<std::int64_t>(buffer.shard->ranks);
  return shape;
}

Array part_of(Array whole, const BoundBuffer& buffer, const std::string& what) {
  const std::vector<std::int64_t> wanted = whole_shape(buffer);
  if (whole.shape != wanted) {
    const std::string parts = buffer.shard ? ": " + shape_text(buffer.shape) + " on each of " +
                                                 std::to_string(buffer.shard->ranks) + " ranks"
                                           : std::string();
    throw error(ErrorCode::kInvalidInput,
                "{} holds an array of shape {}, the buffer {} has the shape {}{}", what,
                shape_text(whole.shape), buffer.definition->name, shape_text(wanted), parts);
  }
  if (!buffer.shard || buffer.shard->ranks == 1) return whole;
  Array part{whole.dtype, buffer.shape, std::string(buffer.bytes, '\0')};
  const std::uint64_t size = buffer.element_size();
  for_each_run(buffer, 0, static_cast<std::uint64_t>(buffer.elements),
               [&](std::uint64_t first, std::uint64_t count, std::uint64_t offset) {
                 std::memcpy(part.bytes.data() + first * size, whole.bytes.data() + offset * size,
                             count * size);
               });
  return part;
}

Array whole_of(const std::vector<std::string>& parts, const Array& part, std::size_t axis) {
  Array whole{part.dtype, part.shape, {}};
  whole.shape[axis] *= static_cast<std::int64_t>(parts.size());
  const auto begin = part.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto run = static_cast<std::size_t>(
      std::accumulate(begin, part.shape.end(), std::int64_t{1}, std::multiplies<>()));
  const std::size_t bytes = run * size_of(part.dtype);
  for (std::size_t at = 0; bytes != 0 && at < part.bytes.size(); at += bytes) {
    for (const std::string& each : parts) whole.bytes.append(each, at, bytes);
  }
  return whole;
}

}  // namespace baton::bind
