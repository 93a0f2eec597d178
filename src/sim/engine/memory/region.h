#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::sim {

// The quick paths to memory check offsets for alignment, so the regions that they use start at a
// multiple of the largest access, in bytes.
inline constexpr std::uint64_t kRegionAlignment = 32;

// A run of device addresses and the host memory behind it. A plain value: the instruction loops,
// which are compiled for several processors, share it without sharing code.
struct Region {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::byte* host = nullptr;
  // What was written, not zero where something was: a byte for each byte in global memory, a byte
  // for each word of four in shared memory. Null where all of it was.
  std::uint8_t* written = nullptr;
  // Where accesses are noted (watch.h); null where races are not looked for. It is that of the
  // whole allocation, in which the region lies so many bytes from the start.
  void* shadow = nullptr;
  std::uint64_t within = 0;
};

// The addresses from `begin` to `end`, which the region has.
inline Region part_of(const Region& region, std::uint64_t begin, std::uint64_t end) {
  Region part = region;
  const std::uint64_t before = begin - region.base;
  part.within = region.within + before;
  part.base = begin;
  part.size = end - begin;
  part.host += before;
  if (part.written != nullptr) part.written += before;
  return part;
}

}  // namespace baton::sim
