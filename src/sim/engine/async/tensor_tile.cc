#include "sim/engine/async/tensor_tile.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace baton::sim {
namespace {

constexpr std::uint32_t kExponent = 0x7f80'0000;  // of f32
constexpr std::uint32_t kSign = 0x8000'0000;
constexpr std::uint32_t kDropped = 0x1fff;  // the bits that f32 has and tf32 has not

// Of a box along one dimension: its elements that are moved.
std::uint32_t count(const TileMap& map, std::size_t dimension) {
  const std::uint32_t step = map.element_strides[dimension];
  return (map.box[dimension] + step - 1) / step;
}

std::uint64_t count_rows(const TileMap& map) {
  std::uint64_t rows = 1;
  for (std::size_t k = 1; k < map.rank; ++k) rows *= count(map, k);
  return rows;
}

std::uint32_t row_bytes(const TileMap& map) {
  return map.box[0] * map.element_size();
}

std::uint32_t row_pitch(const TileMap& map) {
  return map.swizzle_bits == 0 ? row_bytes(map) : kSwizzleChunk << map.swizzle_bits;
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

std::uint64_t tile_extent(const TileMap& map) {
  return count_rows(map) * row_pitch(map);
}

TensorTile make_tile(const TileMap& map, std::span<const std::int32_t> coordinates, TileEnd end) {
  TensorTile tile;
  tile.type = map.type;
  tile.swizzle_bits = map.swizzle_bits;
  tile.fills_nan = map.fills_nan != 0;
  tile.rows = static_cast<std::uint32_t>(count_rows(map));
  tile.row = row_bytes(map);
  tile.pitch = row_pitch(map);

  // The innermost dimension: elements `first` to `last` of the box lie in the tensor.
  const std::int64_t start = coordinates[0];
  const auto size = map.element_size();
  const std::int64_t first = std::max<std::int64_t>(0, -start);
  const std::int64_t last =
      std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.extents[0]) - start);
  if (first >= last) return tile;
  const std::uint32_t from = static_cast<std::uint32_t>(first) * size;
  std::uint32_t to = static_cast<std::uint32_t>(last) * size;
  // Rows begin at multiples of 16 bytes in global memory, and their widths are such.
  if (end == TileEnd::kChunk) to = (to + kSwizzleChunk - 1) / kSwizzleChunk * kSwizzleChunk;

  std::array<std::uint32_t, kMaxTensorRank> index = {};
  for (std::uint32_t row = 0; row < tile.rows; ++row) {
    bool inside = true;
    std::uint64_t address = map.address + static_cast<std::uint64_t>(start + first) * size;
    for (std::size_t k = 1; k < map.rank; ++k) {
      const std::int64_t place =
          std::int64_t{coordinates[k]} + std::int64_t{index[k]} * map.element_strides[k];
      inside = inside && place >= 0 && place < static_cast<std::int64_t>(map.extents[k]);
      address += static_cast<std::uint64_t>(place) * map.strides[k];
    }
    if (inside) tile.runs.push_back({address, row * tile.pitch + from, to - from});
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
