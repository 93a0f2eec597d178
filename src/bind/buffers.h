#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/buffer.h"
#include "baton/program.h"

namespace baton::bind {

// One dimension along which a whole array is divided, and the rank's part there.
struct BoundShard {
  std::size_t axis = 0;
  std::uint64_t rank = 0, ranks = 1;

  friend auto operator<=>(const BoundShard&, const BoundShard&) = default;
};

// One buffer of a program with the values of its symbols.
struct BoundBuffer {
  const ProgramBuffer* definition = nullptr;  // owned by the program
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  std::uint64_t bytes = 0;
  std::vector<BoundShard> shards;      // by axis
  std::optional<DeviceAddress> given;  // where it lies in memory of the caller's
  std::optional<Memory> memory;        // once it is allocated
  bool from_allocator = false;         // of the caller's, who may have more in that allocation

  std::uint64_t element_size() const { return size_of(definition->dtype); }
  DeviceAddress address() const { return memory ? memory->address() : 0; }
};

// All buffers, in the program's order.
using BufferTable = std::vector<BoundBuffer>;

std::uint32_t buffer_index(const BufferTable& buffers, const std::string& name);
// "y + N", for labels.
std::string place_text(const BufferOffset& place);
// The bytes from one row of a cache to the next (ProgramBuffer::frozen).
std::uint64_t row_bytes(const BoundBuffer& cache);
// "buffer y (f32 [64])", as the device names it in findings.
std::string title_of(const BoundBuffer& buffer);

}  // namespace baton::bind
