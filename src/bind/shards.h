#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "baton/array.h"
#include "bind/buffers.h"

namespace baton::bind {

// A sharded buffer, its part and the whole array. In C order a part consists of runs of elements
// that are consecutive in the whole too: one run for each index of the dimensions before the axis.

// The shape of the whole array; the buffer's own shape where it has no shard.
std::vector<std::int64_t> whole_shape(const BoundBuffer& buffer);

// The buffer's part of the whole array. Throws kInvalidInput for an array of another shape than the
// whole; `what` names it there. Other buffers take the array as it is.
Array part_of(Array whole, const BoundBuffer& buffer, const std::string& what);

// Makes the whole array of the parts of all ranks, in the order of the ranks. `part` has the shape
// of each.
Array whole_of(const std::vector<std::string>& parts, const Array& part, std::size_t axis);

// Calls `take(first, count, offset)` for each run of elements `first` to `first + count` of the
// buffer; `offset` is the number of the first of them in the whole.
template <typename Take>
void for_each_run(const BoundBuffer& buffer, std::uint64_t first, std::uint64_t count,
                  Take&& take) {
  if (!buffer.shard) return take(first, count, first);
  const std::uint64_t run = buffer.shard->run;
  for (const std::uint64_t end = first + count; first < end;) {
    const std::uint64_t index = first / run, inside = first % run;
    const std::uint64_t length = std::min(run - inside, end - first);
    take(first, length, (index * buffer.shard->ranks + buffer.shard->rank) * run + inside);
    first += length;
  }
}

}  // namespace baton::bind
