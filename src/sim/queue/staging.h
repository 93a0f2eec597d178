#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace baton::sim {

// Bytes of pageable host memory that were taken when a copy was submitted. The process holds at
// most kMaxStaged of them. Thread-safe between objects.
class StagedBytes {
 public:
  static constexpr std::uint64_t kMaxStaged = std::uint64_t{64} << 20;

  StagedBytes() = default;
  StagedBytes(StagedBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  StagedBytes& operator=(StagedBytes&& other) noexcept;
  ~StagedBytes();

  // Copies the bytes; false, and nothing held, where the process already holds too many.
  bool take(const void* source, std::uint64_t size);
  // Null where nothing was taken.
  const std::byte* data() const { return bytes_.get(); }

 private:
  void release();

  std::unique_ptr<std::byte[]> bytes_;
  std::uint64_t size_ = 0;
};

}  // namespace baton::sim
