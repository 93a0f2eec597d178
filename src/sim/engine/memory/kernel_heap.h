#pragma once

#include <cstdint>
#include <deque>

#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {

// The heap of which kernels allocate by malloc, free and new, and which keeps its blocks from one
// kernel to the next (CUDA programming guide, "Dynamic Global Memory Allocation"). A block is an
// allocation of the device's memory, at addresses that lie apart from those of the host's
// allocations and are not used again while there are others. Snapshots do not hold blocks, because
// kernels make and free them while they run: accesses find them here. Thread-safe.
class KernelHeap {
 public:
  explicit KernelHeap(DeviceMemory::Impl& memory);

  // Bytes that live blocks may have together, each rounded up to kAlignment. At first 8 MiB. False,
  // with no effect, after begin_use().
  bool set_limit(std::uint64_t bytes);
  // A kernel is launched that allocates or frees.
  void begin_use();

  static constexpr std::uint64_t kAlignment = 16;
  // The address of a new block, or 0 where it does not fit. `alignment` is a power of two of at
  // most kLargestAlignment. A block of 0 bytes has an address of its own.
  static constexpr std::uint64_t kLargestAlignment = std::uint64_t{1} << 20;
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);

  enum class Freed : std::uint8_t { kNow, kBefore, kInside, kNoBlock };
  // kBefore: it was freed already. kInside: it lies in a live block and is not its start.
  Freed free(std::uint64_t address);

  // The live block that holds the address; false where there is none.
  bool find(std::uint64_t address, Region* region) const;
  // Whether blocks, and nothing else, may have the address.
  bool has_address(std::uint64_t address) const { return address - begin_ < kSpan; }

  // The first of the addresses, and how many there are.
  static constexpr std::uint64_t kSpan = std::uint64_t{1} << 36;

 private:
  std::uint64_t find_room(std::uint64_t span, std::uint64_t alignment);
  void forget_freed();

  DeviceMemory::Impl& memory_;  // whose lock guards what follows
  const std::uint64_t begin_;
  std::uint64_t next_;
  std::uint64_t limit_ = std::uint64_t{8} << 20;
  std::uint64_t used_ = 0;
  bool is_in_use_ = false;
  std::deque<std::uint64_t> freed_;  // blocks that are remembered, oldest first
};

}  // namespace baton::sim
