#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/judge/shadow.h"

namespace baton::sim {

// Sixteen neighbouring cells of a shadow are a group, which has a word of its own: the number of a
// grid all of whose reads there are noted and come after whatever wrote there, so that it need not
// look at the cells again; the token of one who is about to say so; or 0. The words lie before the
// cells in memory, the first one last. Who changes Cell::write sets the word to 0 after that.
class ShadowGroups {
 public:
  static constexpr std::size_t kCells = 16;
  // Bytes of cells for a byte of words.
  static constexpr std::size_t kRatio = kCells * sizeof(Shadow::Cell) / sizeof(std::uint64_t);

  explicit ShadowGroups(const Shadow::Layout& layout)
      : words_(reinterpret_cast<std::uint64_t*>(layout.cells)) {}

  // Of the group's words one after the other, from that of the cell numbered `first` to that of
  // the one numbered `last`: whether all hold the grid.
  bool hold(std::size_t first, std::size_t last, std::uint64_t grid) const {
    bool all = true;
    for (std::size_t g = first / kCells; g <= last / kCells; ++g) {
      all &= __atomic_load_n(word(g), __ATOMIC_ACQUIRE) == grid;
    }
    return all;
  }
  void clear(std::size_t first, std::size_t last) const {
    for (std::size_t g = first / kCells; g <= last / kCells; ++g) {
      __atomic_store_n(word(g), 0, __ATOMIC_RELEASE);
    }
  }
  // Of the groups that lie in the cells as a whole: `announce` before the cells are looked at, then
  // `confirm` with the same token, which does nothing where a write came between the two. Either
  // the exchange reads the writer's 0, and the cells show what it wrote, or that 0 comes later, and
  // the word does not stay what it is confirmed to be.
  void announce(std::size_t first, std::size_t last, std::uint64_t token) const {
    for (std::size_t g = begin(first); g < end(last); ++g) {
      __atomic_exchange_n(word(g), token, __ATOMIC_SEQ_CST);
    }
  }
  void confirm(std::size_t first, std::size_t last, std::uint64_t token, std::uint64_t grid) const {
    for (std::size_t g = begin(first); g < end(last); ++g) {
      std::uint64_t expected = token;
      __atomic_compare_exchange_n(word(g), &expected, grid, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_RELAXED);
    }
  }

 private:
  static std::size_t begin(std::size_t first) { return (first + kCells - 1) / kCells; }
  static std::size_t end(std::size_t last) { return (last + 1) / kCells; }
  std::uint64_t* word(std::size_t group) const { return words_ - 1 - group; }

  std::uint64_t* words_;
};

}  // namespace baton::sim
