#include "peer/division.h"

#include <algorithm>

#include "peer/peer_memory.h"

namespace baton::peer {
namespace {

constexpr std::uint64_t kVector = 16;                   // bytes
constexpr std::uint64_t kOfBlock = kThreads * kVector;  // bytes that are worth a block

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace

Division division_of(std::uint64_t count, std::uint64_t size, std::uint64_t row,
                     std::uint32_t most_blocks) {
  const std::uint64_t bytes = count * size;
  const std::uint64_t unit = row == 0 ? kVector : row * size;
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(divided_up(bytes, kOfBlock), 1, most_blocks);
  Division division;
  std::uint64_t of_block = unit;
  if (unit <= kSlotBytes) {
    const std::uint64_t units = divided_up(divided_up(bytes, wanted), unit);
    of_block = std::min<std::uint64_t>(units, kSlotBytes / unit) * unit;
  }
  division.of_block = of_block / size;
  division.of_round =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(of_block, kSlotBytes) / size);
  division.blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(divided_up(bytes, of_block), most_blocks));
  return division;
}

}  // namespace baton::peer
