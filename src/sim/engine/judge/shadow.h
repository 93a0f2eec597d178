#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sim/engine/judge/access_notes.h"
#include "sim/engine/judge/frozen_rows.h"
#include "sim/engine/judge/shadow_group.h"
#include "sim/engine/judge/toucher.h"

namespace baton::sim {

// Who last wrote and read each part of an allocation. Parts are words, or as small as the accesses
// that were seen. The host commits its memory where something is touched; where it has no room,
// nothing is noted. Members may be called from several threads. What is noted while another thread
// refines the parts may be lost.
class Shadow {
 public:
  using Cell = ShadowCell;
  struct Layout {
    ShadowGroup* groups = nullptr;  // and the cells behind them
    Cell* cells = nullptr;          // in use where their group is split
    std::size_t mapped = 0;         // bytes of a mapping; 0 where the memory came from the heap
    int shift = 2;                  // log2 of the bytes of a part
    // Touchers of the same cells that a later grid replaced in threads that came after them by its
    // wait. Its other threads may race them still. Null where there are none.
    mutable std::atomic<const Layout*> awaited{nullptr};
    ~Layout();
    // The group of a cell; see LockedGroup.
    LockedGroup lock(std::size_t group) const {
      return LockedGroup(groups[group], cells + group * ShadowGroup::kCells);
    }
  };

  explicit Shadow(std::uint64_t bytes) : bytes_(bytes) {}

  // Whether accesses are noted, which may begin while grids run; and whether no kernel may write,
  // which is set while none does.
  std::atomic<bool> notes = false;
  std::atomic<bool> is_read_only = false;
  // The same for frozen rows.
  std::atomic<bool> has_frozen = false;
  // The operation that allocated the memory in the order of a stream, as a toucher; 0: none did.
  std::atomic<std::uint64_t> origin = 0;

  // In place of the part that begins at the same offset; without rows, it ends that one. No thread
  // may be using the shadow.
  void freeze(FrozenPart part);
  const std::vector<FrozenPart>& frozen() const { return frozen_; }

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

  // Layout::awaited, made at its first use; null where there is no room.
  const Layout* awaited(const Layout& layout) {
    const Layout* present = layout.awaited.load(std::memory_order_acquire);
    return present != nullptr ? present : make_awaited(layout);
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
  Kept writers;  // that threads wrote after which came after them, while others did not

  AccessNotes accesses;  // of grids that flags may order with those of other devices

  // `is_before` says of another one that is kept whether what comes after `toucher` comes after
  // that one too, which is then forgotten. Of kMostKept parts at most.
  static constexpr std::size_t kMostKept = std::size_t{1} << 22;
  template <class IsBefore>
  void keep(Kept& kept, const Cell* cell, std::uint64_t toucher, IsBefore is_before) {
    std::lock_guard lock(kept_mutex_);
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

  // Forgets everything. No thread may be using the shadow.
  void clear();

 private:
  const Layout* refine(std::uint64_t low);
  const Layout* make_awaited(const Layout& layout);

  std::vector<FrozenPart> frozen_;
  const std::uint64_t bytes_;
  std::atomic<const Layout*> layout_{nullptr};
  std::mutex mutex_;
  // Of Kept and Layout::awaited. Threads that hold a group take it, so no thread that holds it
  // waits for a group.
  std::mutex kept_mutex_;
  std::vector<std::unique_ptr<Layout>>
      layouts_;  // the last is in use; others may still be looked at
};

}  // namespace baton::sim
