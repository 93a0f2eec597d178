#include "sim/engine/async/hardware_map.h"

#include <cstring>

namespace baton::sim {
namespace {

// The first half of a map; no bit of the second half means anything.
using Words = std::array<std::uint64_t, 8>;

std::uint64_t bits(std::uint64_t word, unsigned first, unsigned count) {
  return word >> first & ((std::uint64_t{1} << count) - 1);
}

// The upper or the lower half of a word.
std::uint64_t half(const Words& words, std::size_t number) {
  return bits(words[number / 2], number % 2 == 0 ? 0 : 32, 32);
}

// Halves of words, one for each dimension: extents less 1 from half 8 on, and strides of the outer
// dimensions in units from half 3 on. Their upper bits share half 7.
constexpr std::size_t kFirstExtent = 8;
constexpr std::size_t kFirstStride = 3;
constexpr std::size_t kUpperStrides = 7;
constexpr unsigned kStrideUnit = 16;

// What half 2 says of the whole map. A tiled map begins with 2; how the cache is asked to fetch
// more (17 and 18), and whether the tensor is large (21), changes no result.
constexpr std::uint64_t kTiled = 2;
constexpr std::uint64_t kKnownFlags = 0xf | 0x7 << 4 | 0xf << 7 | 0x3 << 13 | 0x3 << 17 | 1 << 21;

}  // namespace

std::optional<TileMap> read_hardware_map(const TensorMapBytes& bytes) {
  Words words;
  std::memcpy(words.data(), bytes.data(), sizeof words);
  const std::uint64_t flags = half(words, 2);
  const std::uint64_t type = bits(flags, 7, 4);
  const std::uint64_t rank = bits(flags, 4, 3) + 1;
  if ((flags & ~kKnownFlags) != 0 || bits(flags, 0, 4) != kTiled || rank > kMaxTensorRank ||
      type > static_cast<std::uint64_t>(TensorType::kTF32Ftz)) {
    return std::nullopt;
  }
  // Boxes less 1 take a byte each, from the last one of word 6 on. Element strides lie before them:
  // 0 stands for 1.
  if (bits(words[6], 32, 24) != 0 || bits(words[7], 32, 32) != 0 || bits(words[0], 57, 7) != 0) {
    return std::nullopt;
  }
  TileMap map;
  map.address = words[0];
  map.rank = static_cast<std::uint8_t>(rank);
  map.type = static_cast<TensorType>(type);
  map.swizzle_bits = static_cast<std::uint8_t>(bits(flags, 13, 2));
  map.extents.fill(1);
  map.box.fill(1);
  map.element_strides.fill(1);
  map.strides[0] = size_of(map.type);
  for (std::size_t k = 0; k < rank; ++k) {
    map.extents[k] = half(words, kFirstExtent + k) + 1;
    const std::uint64_t box =
        k == 0 ? bits(words[6], 56, 8) : bits(words[7], 8 * static_cast<unsigned>(k - 1), 8);
    map.box[k] = static_cast<std::uint16_t>(box + 1);
    if (k == 0) continue;
    const std::uint64_t upper =
        bits(half(words, kUpperStrides), 4 * static_cast<unsigned>(k - 1), 4);
    map.strides[k] = (upper << 32 | half(words, kFirstStride + k - 1)) * kStrideUnit;
  }
  return map;
}

}  // namespace baton::sim
