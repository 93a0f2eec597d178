#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::trace {

// What an instrumented kernel notes of one of its blocks. Zero where nothing happened. Clocks are
// those of the block's multiprocessor (%clock64), times those of the device (%globaltimer, in
// nanoseconds).
struct alignas(16) BlockRecord {
  std::uint64_t entry_time = 0;
  std::uint64_t entry_clock = 0;
  std::uint64_t place = 0;  // the multiprocessor (%smid), and 1
  // The last of the block's warps that wait comes to its first wait, and goes on.
  std::uint64_t wait_begin_clock = 0;
  std::uint64_t wait_end_clock = 0;
  std::uint64_t trigger_clock = 0;  // the last of the warps that trigger does so first
  std::uint64_t exit_clock = 0;     // the last warp ends

  bool began() const { return place != 0; }
  std::uint32_t multiprocessor() const { return static_cast<std::uint32_t>(place - 1); }
};
static_assert(sizeof(BlockRecord) == 64);

}  // namespace baton::trace
