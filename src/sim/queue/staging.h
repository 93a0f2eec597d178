#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace baton::sim {

// Bytes of pageable host memory that were taken when a copy was submitted. The process holds at
// most kMaxStaged of them, and keeps the memory of at most kMaxSpare for later ones: the allocator
// would return it to the system, and new memory takes longer to touch than bytes to copy.
// Thread-safe between objects.
class StagedBytes {
 public:
  static constexpr std::uint64_t kMaxStaged = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kMaxSpare = std::uint64_t{1} << 20;

  StagedBytes() = default;
  StagedBytes(StagedBytes&& other) noexcept
      : block_(std::move(other.block_)), size_(std::exchange(other.size_, 0)) {}
  StagedBytes& operator=(StagedBytes&& other) noexcept;
  ~StagedBytes();

  // Waits until the process holds few enough that later copies use their memory again, but not
  // longer than a moment: what they wait for may come after this one, and other threads may take
  // all room that comes free.
  static void await_room(std::uint64_t size);
  // Copies the bytes; false, and nothing held, where the process already holds too many.
  bool take(const void* source, std::uint64_t size);
  // Null where nothing was taken.
  const std::byte* data() const { return block_.bytes.get(); }

  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::uint64_t capacity = 0;
  };

 private:
  void release();

  Block block_;
  std::uint64_t size_ = 0;
};

}  // namespace baton::sim
