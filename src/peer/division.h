#pragma once

#include <cstdint>

namespace baton::peer {

// How the blocks of a kernel divide elements (all_reduce.cu).
struct Division {
  std::uint64_t of_block = 0;  // elements that a block takes at once
  std::uint32_t of_round = 0;  // of these, the elements of one round
  std::uint32_t blocks = 0;
};

// Of `count` elements, more than 0, of `size` bytes each. `row`: the elements of a row, which one
// block takes; 0: there are none.
Division division_of(std::uint64_t count, std::uint64_t size, std::uint64_t row,
                     std::uint32_t most_blocks);

}  // namespace baton::peer
