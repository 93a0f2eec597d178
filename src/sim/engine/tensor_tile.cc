#include "sim/engine/tensor_tile.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace baton::sim {
namespace {

constexpr std::uint32_t kExponent = 0x7f80'0000;  // of f32
constexpr std::uint32_t kSign = 0x8000'0000;
constexpr std::uint32_t kDropped = 0x1fff;  // the bits that f32 has and tf32 has not

// Of a box along one dimension: its elements that are moved.
std::uint32_t count(const TensorMap& map, std::size_t dimension) {
  const std::uint32_t step = map.element_strides[dimension];
  return (map.box[dimension] + step - 1) / step;
}

template <typename T>
void fill(std::span<std::byte> bytes, T value) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

std::uint32_t rounded_to_tf32(std::uint32_t bits) {
  if ((bits & kExponent) == kExponent) return bits;  // NaN and infinities
  return (bits + (kDropped + 1) / 2) & ~kDropped;
}

}  // namespace

std::uint64_t tile_bytes(const TensorMap& map) {
  std::uint64_t bytes = map.element_size();
  for (std::size_t k = 0; k < map.rank; ++k) bytes *= count(map, k);
  return bytes;
}

TensorTile make_tile(const TensorMap& map, std::span<const std::int32_t> coordinates) {
  TensorTile tile;
  tile.type = map.type;
  tile.swizzle_bits = map.swizzle_bits;
  tile.fills_nan = map.fills_nan != 0;
  tile.bytes = static_cast<std::uint32_t>(tile_bytes(map));

  // The innermost dimension: elements `first` to `last` of the box lie in the tensor.
  const std::int64_t start = coordinates[0];
  const auto size = map.element_size();
  const std::int64_t first = std::max<std::int64_t>(0, -start);
  const std::int64_t last =
      std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.extents[0]) - start);
  if (first >= last) return tile;
  const std::uint32_t row = map.box[0] * size;

  std::array<std::uint32_t, kMaxTensorRank> index = {};
  for (std::uint32_t at = 0; at < tile.bytes; at += row) {
    bool inside = true;
    std::uint64_t address = map.address + static_cast<std::uint64_t>(start + first) * size;
    for (std::size_t k = 1; k < map.rank; ++k) {
      const std::int64_t place =
          std::int64_t{coordinates[k]} + std::int64_t{index[k]} * map.element_strides[k];
      inside = inside && place >= 0 && place < static_cast<std::int64_t>(map.extents[k]);
      address += static_cast<std::uint64_t>(place) * map.strides[k];
    }
    if (inside) {
      tile.runs.push_back({address, at + static_cast<std::uint32_t>(first) * size,
                           static_cast<std::uint32_t>(last - first) * size});
    }
    for (std::size_t k = 1; k < map.rank && ++index[k] == count(map, k); ++k) index[k] = 0;
  }
  return tile;
}

std::uint32_t swizzled(const TensorTile& tile, std::uint32_t address, std::uint32_t at) {
  const std::uint32_t line = (address + at) >> 7;
  const std::uint32_t mask = (1u << tile.swizzle_bits) - 1;
  return at ^ ((line & mask) << 4);
}

void fill_outside(const TensorTile& tile, std::span<std::byte> bytes) {
  if (!tile.fills_nan) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    return;
  }
  switch (tile.type) {
    case TensorType::kF16:
    case TensorType::kBF16:
      return fill<std::uint16_t>(bytes, 0x7fff);
    case TensorType::kF64:
      return fill<std::uint64_t>(bytes, 0x7fff'ffff'ffff'ffff);
    default:
      return fill<std::uint32_t>(bytes, 0x7fff'ffff);
  }
}

void convert_loaded(TensorType type, std::span<std::byte> bytes) {
  const bool flushes = type == TensorType::kTF32Ftz;
  const bool rounds = type == TensorType::kTF32 || type == TensorType::kTF32Ftz;
  if (!flushes && !rounds) return;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, 4);
    if (flushes && (bits & kExponent) == 0) bits &= kSign;
    if (rounds) bits = rounded_to_tf32(bits);
    std::memcpy(bytes.data() + at, &bits, 4);
  }
}

}  // namespace baton::sim
