#include "peer/division.h"

#include <algorithm>

#include "peer/peer_memory.h"

namespace baton::peer {
namespace {

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

// Whole packs that divide the bytes evenly among the blocks, as far as one round takes them.
std::uint64_t even_share(std::uint64_t bytes, std::uint32_t most_blocks) {
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>(divided_up(bytes, kRoundBytes), 1, most_blocks);
  const std::uint64_t share = divided_up(divided_up(bytes, blocks), kPackBytes) * kPackBytes;
  return std::min<std::uint64_t>(share, kRoundBytes);
}

}  // namespace

Division division_of(std::uint64_t count, std::uint64_t size, std::uint64_t row,
                     std::uint32_t most_blocks) {
  const std::uint64_t bytes = count * size;
  const std::uint64_t of_block = row == 0 ? even_share(bytes, most_blocks) : row * size;
  return {of_block / size,
          static_cast<std::uint32_t>(std::min<std::uint64_t>(of_block, kRoundBytes) / size),
          static_cast<std::uint32_t>(
              std::min<std::uint64_t>(divided_up(bytes, of_block), most_blocks))};
}

}  // namespace baton::peer
