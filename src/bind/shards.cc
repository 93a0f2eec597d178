#include "bind/shards.h"

#include <cstring>

#include "base/array/array.h"
#include "base/error.h"

namespace baton::bind {

std::vector<std::int64_t> whole_shape(const BoundBuffer& buffer) {
  std::vector<std::int64_t> shape = buffer.shape;
  for (const BoundShard& shard : buffer.shards) {
    shape[shard.axis] *= static_cast<std::int64_t>(shard.ranks);
  }
  return shape;
}

ShardRuns::ShardRuns(const BoundBuffer& buffer) {
  const std::vector<std::int64_t> whole = whole_shape(buffer);
  const std::size_t last = buffer.shards.empty() ? 0 : buffer.shards.back().axis;
  std::vector<std::uint64_t> parts(whole.size(), 0);
  for (const BoundShard& shard : buffer.shards) parts[shard.axis] = shard.rank;
  std::uint64_t stride = 1;
  length_ = 1;
  for (std::size_t axis = whole.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(buffer.shape[axis]);
    if (axis >= last) {
      length_ *= extent;
      first_ += parts[axis] * extent * stride;
    } else {
      dimensions_.push_back({extent, parts[axis] * extent, stride});
    }
    stride *= static_cast<std::uint64_t>(whole[axis]);
  }
}

std::uint64_t ShardRuns::offset(std::uint64_t run) const {
  std::uint64_t offset = first_;
  for (const Dimension& dimension : dimensions_) {
    offset += (dimension.first + run % dimension.extent) * dimension.stride;
    run /= dimension.extent;
  }
  return offset;
}

Array part_of(Array whole, const BoundBuffer& buffer, const std::string& what) {
  const std::vector<std::int64_t> wanted = whole_shape(buffer);
  if (whole.shape != wanted) {
    std::uint64_t parts = 1;
    for (const BoundShard& shard : buffer.shards) parts *= shard.ranks;
    const std::string each = buffer.shards.empty() ? std::string()
                                                   : fmt::format(": {} on each of {} ranks",
                                                                 shape_text(buffer.shape), parts);
    throw error(ErrorCode::kInvalidInput,
                "{} holds an array of shape {}, the buffer {} has the shape {}{}", what,
                shape_text(whole.shape), buffer.definition->name, shape_text(wanted), each);
  }
  if (whole.shape == buffer.shape) return whole;
  Array part{whole.dtype, buffer.shape, std::string(buffer.bytes, '\0')};
  const std::uint64_t size = buffer.element_size();
  for_each_run(buffer, 0, static_cast<std::uint64_t>(buffer.elements),
               [&](std::uint64_t first, std::uint64_t count, std::uint64_t offset) {
                 std::memcpy(part.bytes.data() + first * size, whole.bytes.data() + offset * size,
                             count * size);
               });
  return part;
}

void put_part(const std::string& part, const BoundBuffer& buffer, std::string& whole) {
  const std::uint64_t size = buffer.element_size();
  for_each_run(buffer, 0, static_cast<std::uint64_t>(buffer.elements),
               [&](std::uint64_t first, std::uint64_t count, std::uint64_t offset) {
                 std::memcpy(whole.data() + offset * size, part.data() + first * size,
                             count * size);
               });
}

}  // namespace baton::bind
