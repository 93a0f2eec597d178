#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "baton/array.h"
#include "bind/buffers.h"

namespace baton::bind {

// A sharded buffer, its part and the whole array. In C order a part consists of runs of elements
// that are consecutive in the whole too: one run for each index of the dimensions before the last
// axis that is divided.

// The shape of the whole array; the buffer's own shape where it has no shard.
std::vector<std::int64_t> whole_shape(const BoundBuffer& buffer);

// The buffer's part of the whole array. Throws kInvalidInput for an array of another shape than the
// whole; `what` names it there. Other buffers take the array as it is.
Array part_of(Array whole, const BoundBuffer& buffer, const std::string& what);

// Where runs of a buffer's elements lie in the whole array. An unsharded buffer is one run.
class ShardRuns {
 public:
  explicit ShardRuns(const BoundBuffer& buffer);

  // Elements of a run.
  std::uint64_t length() const { return length_; }
  // The number, in the whole, of the first element of the run of that number.
  std::uint64_t offset(std::uint64_t run) const;

 private:
  // A dimension before the end of the last one that is divided.
  struct Dimension {
    std::uint64_t extent = 1;  // of the part
    std::uint64_t first = 0;   // of the part, in the whole
    std::uint64_t stride = 1;  // in elements of the whole
  };

  std::vector<Dimension> dimensions_;  // the innermost first
  std::uint64_t first_ = 0;            // of the run's own dimension
  std::uint64_t length_ = 0;
};

// Puts the bytes of a buffer's part where they belong in the bytes of the whole.
void put_part(const std::string& part, const BoundBuffer& buffer, std::string& whole);

// Calls `take(first, count, offset)` for each run of elements `first` to `first + count` of the
// buffer; `offset` is the number of the first of them in the whole.
template <typename Take>
void for_each_run(const BoundBuffer& buffer, std::uint64_t first, std::uint64_t count,
                  Take&& take) {
  if (buffer.shards.empty()) return take(first, count, first);
  const ShardRuns runs(buffer);
  for (const std::uint64_t end = first + count; first < end;) {
    const std::uint64_t run = first / runs.length(), inside = first % runs.length();
    const std::uint64_t length = std::min(runs.length() - inside, end - first);
    take(first, length, runs.offset(run) + inside);
    first += length;
  }
}

}  // namespace baton::bind
