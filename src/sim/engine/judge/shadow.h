#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace baton::sim {

// Who touched a byte of global memory: which operation (ordering.h), and where in it. Zero: nobody.
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

// Who last wrote and read each part of an allocation. Parts are words, or as small as the accesses
// that were seen. The host commits its memory where something is touched; where it has no room,
// nothing is noted. Members may be called from several threads; of two that note the same part at
// once, one wins.
class Shadow {
 public:
  struct Cell {
    std::uint64_t write;
    std::uint64_t read;
  };
  struct Layout {
    Cell* cells = nullptr;
    std::size_t bytes = 0;
    int shift = 2;  // log2 of the bytes of a part
    ~Layout();
  };

  explicit Shadow(std::uint64_t bytes) : bytes_(bytes) {}

  // The halves of cells, which several threads may touch at once.
  static std::uint64_t load(const std::uint64_t& half) {
    return __atomic_load_n(&half, __ATOMIC_RELAXED);
  }
  static void store(std::uint64_t& half, std::uint64_t value) {
    __atomic_store_n(&half, value, __ATOMIC_RELAXED);
  }

  // Whether accesses are noted, which may begin while grids run; and whether no kernel may write,
  // which is set while none does.
  std::atomic<bool> notes = false;
  std::atomic<bool> is_read_only = false;

  // The parts, so small that an access of `bytes` at `offset` covers whole ones; null where there
  // is no room.
  const Layout* layout(std::uint64_t offset, std::uint64_t bytes) {
    const Layout* present = layout_.load(std::memory_order_acquire);
    const std::uint64_t low = (offset | bytes) & 3;
    if (present != nullptr && (low == 0 || (low & ((1u << present->shift) - 1)) == 0)) {
      return present;
    }
    return refine(low);
  }

  // Touchers of cells besides those that the cells have.
  class Kept {
   public:
    bool has_any() const { return has_any_.load(std::memory_order_relaxed); }

   private:
    friend class Shadow;
    std::atomic<bool> has_any_{false};
    std::unordered_map<const Cell*, std::vector<std::uint64_t>> by_cell_;
  };
  Kept readers;  // that others read after, in no order with them
  Kept writers;  // that threads wrote after which came behind them, while others did not

  // `is_before` says of another one that is kept whether what comes after `toucher` comes after
  // that one too, which is then forgotten. Of kMostKept parts at most.
  static constexpr std::size_t kMostKept = std::size_t{1} << 22;
  template <class IsBefore>
  void keep(Kept& kept, const Cell* cell, std::uint64_t toucher, IsBefore is_before) {
    std::lock_guard lock(mutex_);
    if (kept.by_cell_.size() >= kMostKept && !kept.by_cell_.contains(cell)) return;
    std::vector<std::uint64_t>& several = kept.by_cell_[cell];
    std::erase_if(several, [&](std::uint64_t other) {
      return Toucher(other).low_number() == Toucher(toucher).low_number() ||
             is_before(Toucher(other));
    });
    several.push_back(toucher);
    kept.has_any_.store(true, std::memory_order_relaxed);
  }
  std::vector<std::uint64_t> kept_of(const Kept& kept, const Cell* cell);

  // Forgets everything. Nobody may be using the shadow.
  void clear();

 private:
  const Layout* refine(std::uint64_t low);

  const std::uint64_t bytes_;
  std::atomic<const Layout*> layout_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Layout>>
      layouts_;  // the last is in use; others may still be looked at
};

}  // namespace baton::sim
