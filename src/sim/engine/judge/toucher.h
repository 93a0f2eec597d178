#pragma once

#include <cstdint>

namespace baton::sim {

// The last access of a byte of global memory: its operation (ordering.h) and the thread in it. Zero:
// none.
class Toucher {
 public:
  static constexpr std::uint64_t kNoBlock = (std::uint64_t{1} << 19) - 1;  // or the host
  static constexpr std::uint64_t kNoInsn = (std::uint64_t{1} << 13) - 1;

  Toucher() = default;
  explicit Toucher(std::uint64_t bits) : bits_(bits) {}
  // What is too large to be kept becomes kNoBlock or kNoInsn.
  Toucher(std::uint64_t number, std::uint64_t block, std::uint32_t thread, std::uint32_t insn,
          bool is_strong, bool has_waited)
      : bits_((number & kNumbers) << 44 | (block < kNoBlock ? block : kNoBlock) << 24 |
              std::uint64_t{thread & 1023} << 14 | (insn < kNoInsn ? insn : kNoInsn) << 1 |
              (is_strong ? 1 : 0) | (has_waited ? kWaited : 0)) {}

  // From one thread's bits to the next one's.
  static constexpr std::uint64_t kNextThread = std::uint64_t{1} << 14;

  // Of the first thread of a warp, which has not waited: the same of another lane's thread.
  Toucher for_lane(int lane, bool waited) const {
    return Toucher(bits_ + static_cast<std::uint64_t>(lane) * kNextThread + (waited ? kWaited : 0));
  }

  static constexpr std::uint64_t kNumbers = (std::uint64_t{1} << 20) - 1;

  bool is_any() const { return bits_ != 0; }
  std::uint64_t bits() const { return bits_; }
  std::uint64_t low_number() const { return bits_ >> 44; }
  // The number of an operation that was submitted up to `last`.
  std::uint64_t number(std::uint64_t last) const {
    const std::uint64_t near = (last & ~kNumbers) | low_number();
    return near <= last ? near : near - kNumbers - 1;
  }
  std::uint64_t block() const { return bits_ >> 24 & kNoBlock; }
  // Whether the thread was ordered after what its grid waits for (Warp::ordered).
  bool has_waited() const { return (bits_ & kWaited) != 0; }
  std::uint32_t thread() const { return static_cast<std::uint32_t>(bits_ >> 14) & 1023; }
  std::uint32_t insn() const {
    return static_cast<std::uint32_t>(bits_ >> 1) & static_cast<std::uint32_t>(kNoInsn);
  }
  bool is_strong() const { return (bits_ & 1) != 0; }

 private:
  static constexpr std::uint64_t kWaited = std::uint64_t{1} << 43;
  std::uint64_t bits_ = 0;
};

}  // namespace baton::sim
