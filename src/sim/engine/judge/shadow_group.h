#pragma once

#include <sched.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sim/engine/judge/toucher.h"

namespace baton::sim {

// Who last wrote and read one part of an allocation, as Toucher::bits.
struct ShadowCell {
  std::uint64_t write = 0;
  std::uint64_t read = 0;
};

// Sixteen neighbouring cells of a shadow. Mostly one warp's lanes touch all of them at once, and
// the group says by itself who did: cell k is the thread's that lies k >> step after that of cell
// 0. Where that is not so, the group is split, and the cells say it. Zeros: none.
struct ShadowGroup {
  static constexpr std::size_t kCells = 16;
  static constexpr int kOneThread = 4;  // a step: all cells are one thread's

  // A grid whose reads here are noted and come after whatever wrote here, so that it need not look
  // again: those of threads that waited, or need not. 0: there is none. Twice its number, and 1
  // more where non-coherent loads need not look either.
  std::uint64_t noted_by = 0;
  ShadowCell first;  // where it is not split
  std::uint8_t is_locked = 0;
  bool is_split = false;
  std::uint8_t write_step = 0;
  std::uint8_t read_step = 0;
  std::uint32_t unused = 0;

  // Needs no lock: LockedGroup::note_all publishes the grid.
  bool is_noted_by(std::uint64_t grid, bool is_noncoherent) const {
    const std::uint64_t note = __atomic_load_n(&noted_by, __ATOMIC_ACQUIRE);
    return is_noncoherent ? note == (grid << 1 | 1) : note >> 1 == grid;
  }
};
static_assert(sizeof(ShadowGroup) == 32, "two of a cache line");

// A group while one thread looks at it and changes it.
class LockedGroup {
 public:
  LockedGroup(ShadowGroup& group, ShadowCell* cells) : group_(group), cells_(cells) {
    while (__atomic_exchange_n(&group_.is_locked, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ~LockedGroup() { __atomic_store_n(&group_.is_locked, 0, __ATOMIC_RELEASE); }
  LockedGroup(const LockedGroup&) = delete;
  LockedGroup& operator=(const LockedGroup&) = delete;

  bool is_split() const { return group_.is_split; }
  // Cell 0. Of one that is not split, the others differ from it in their threads at most.
  const ShadowCell& first() const { return group_.first; }
  ShadowCell at(std::size_t k) const {
    if (group_.is_split) return cells_[k];
    return {of_thread(group_.first.write, k >> group_.write_step),
            of_thread(group_.first.read, k >> group_.read_step)};
  }

  // All cells of one that is not split.
  void set_write(std::uint64_t first, std::uint8_t step) {
    group_.first.write = first;
    group_.write_step = step;
  }
  void set_read(std::uint64_t first, std::uint8_t step) {
    group_.first.read = first;
    group_.read_step = step;
  }

  // One half of all cells becomes that of another group's.
  void take(std::uint64_t ShadowCell::*half, const LockedGroup& from) {
    if (group_.is_split || from.group_.is_split) {
      ShadowCell* const cells = split();
      for (std::size_t k = 0; k < ShadowGroup::kCells; ++k) cells[k].*half = from.at(k).*half;
    } else if (half == &ShadowCell::write) {
      set_write(from.group_.first.write, from.group_.write_step);
    } else {
      set_read(from.group_.first.read, from.group_.read_step);
    }
  }

  // The cells, which say from here on who touched them.
  ShadowCell* split() {
    if (!group_.is_split) {
      for (std::size_t k = 0; k < ShadowGroup::kCells; ++k) cells_[k] = at(k);
      group_.is_split = true;
    }
    return cells_;
  }
  // Undoes that where the cells are as those of a group that is not split.
  void try_join() {
    std::uint8_t write_step = 0;
    std::uint8_t read_step = 0;
    if (!find_step(&ShadowCell::write, &write_step)) return;
    if (!find_step(&ShadowCell::read, &read_step)) return;
    group_.is_split = false;
    set_write(cells_[0].write, write_step);
    set_read(cells_[0].read, read_step);
  }

  // That all reads of this grid are noted; 0: of none.
  void note_all(std::uint64_t grid, bool is_noncoherent = false) {
    __atomic_store_n(&group_.noted_by, grid << 1 | (is_noncoherent ? 1 : 0), __ATOMIC_RELEASE);
  }

 private:
  static std::uint64_t of_thread(std::uint64_t first, std::size_t behind) {
    return first == 0 ? 0 : first + behind * Toucher::kNextThread;
  }

  bool find_step(std::uint64_t ShadowCell::*half, std::uint8_t* step) const {
    const std::uint64_t first = cells_[0].*half;
    std::size_t alike = 1;
    while (alike < ShadowGroup::kCells && cells_[alike].*half == first) ++alike;
    if (!std::has_single_bit(alike)) return false;
    *step = static_cast<std::uint8_t>(std::countr_zero(alike));
    std::uint64_t differs = 0;
    for (std::size_t k = alike; k < ShadowGroup::kCells; ++k) {
      differs |= cells_[k].*half ^ of_thread(first, k >> *step);
    }
    return differs == 0;
  }

  ShadowGroup& group_;
  ShadowCell* const cells_;
};

}  // namespace baton::sim
