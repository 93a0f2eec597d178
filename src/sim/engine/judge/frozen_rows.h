#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

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
  // The row of a place that it holds, or of the first one behind the place.
  std::uint64_t row(std::uint64_t place) const {
    return (place < offset ? 0 : (place - offset) / row_bytes) % rows;
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
