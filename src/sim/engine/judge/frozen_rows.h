#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace baton::sim {

// Rows of an allocation that no kernel writes, and that dependent grids may read before their wait:
// those below a counter in device memory (driver::FrozenRange). Immutable.
struct FrozenPart {
  std::uint64_t offset = 0;  // in the allocation
  std::uint64_t bytes = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 0;
  std::shared_ptr<const std::byte> counter;
  std::uint32_t counter_bytes = 0;
  bool is_signed = false;
  std::string name;

  bool holds(std::uint64_t place, std::uint32_t size) const {
    return place < offset + bytes && offset < place + size;
  }
  // The lowest and the highest row of an access that it holds.
  std::pair<std::uint64_t, std::uint64_t> rows_of(std::uint64_t place, std::uint32_t size) const {
    const std::uint64_t first = (std::max(place, offset) - offset) / row_bytes;
    const std::uint64_t last = (std::min(place + size, offset + bytes) - 1 - offset) / row_bytes;
    // After the last row comes the first one.
    if (first / rows != last / rows) return {0, rows - 1};
    return {first % rows, last % rows};
  }
  // The counter's value now. A kernel may write it meanwhile, which other checks look for.
  std::uint64_t count() const {
    std::uint64_t value = 0;
    std::memcpy(&value, counter.get(), counter_bytes);
    const bool is_negative = is_signed && (value >> (8 * counter_bytes - 1) & 1) != 0;
    return is_negative ? 0 : value;
  }
};

}  // namespace baton::sim
