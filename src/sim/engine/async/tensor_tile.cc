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
  if (map.unfolds != 0) return map.pixels();
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

namespace {

// A tile of the map that has no runs yet.
TensorTile empty_tile(const TileMap& map) {
  TensorTile tile;
  tile.type = map.type;
  tile.swizzle_bits = map.swizzle_bits;
  tile.fills_nan = map.fills_nan != 0;
  tile.rows = static_cast<std::uint32_t>(count_rows(map));
  tile.row = row_bytes(map);
  tile.pitch = row_pitch(map);
  return tile;
}

// The bytes of a row that lie in the tensor, along the innermost dimension, and where the first of
// them is in global memory.
struct RowPart {
  std::uint32_t from = 0, to = 0;
  std::uint64_t address = 0;
};

// None where from = to.
RowPart row_part(const TileMap& map, std::int64_t start, TileEnd end) {
  const auto size = map.element_size();
  const std::int64_t first = std::max<std::int64_t>(0, -start);
  const std::int64_t last =
      std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.extents[0]) - start);
  if (first >= last) return {};
  RowPart part;
  part.from = static_cast<std::uint32_t>(first) * size;
  part.to = static_cast<std::uint32_t>(last) * size;
  part.address = map.address + static_cast<std::uint64_t>(start + first) * size;
  // Rows begin at multiples of 16 bytes in global memory, and their widths are such.
  if (end == TileEnd::kChunk)
    part.to = (part.to + kSwizzleChunk - 1) / kSwizzleChunk * kSwizzleChunk;
  return part;
}

// Adds the row at the places along the outer dimensions, if it is inside of the tensor.
void add_row(const TileMap& map, const RowPart& part, std::span<const std::int64_t> places,
             std::uint32_t row, TensorTile& tile) {
  std::uint64_t address = part.address;
  for (std::size_t k = 1; k < map.rank; ++k) {
    if (places[k] < 0 || places[k] >= static_cast<std::int64_t>(map.extents[k])) return;
    address += static_cast<std::uint64_t>(places[k]) * map.strides[k];
  }
  tile.runs.push_back({address, row * tile.pitch + part.from, part.to - part.from});
}

using Places = std::array<std::int64_t, kMaxTensorRank>;

}  // namespace

TensorTile make_tile(const TileMap& map, std::span<const std::int32_t> coordinates, TileEnd end) {
  TensorTile tile = empty_tile(map);
  const RowPart part = row_part(map, coordinates[0], end);
  if (part.from == part.to) return tile;
  std::array<std::uint32_t, kMaxTensorRank> index = {};
  for (std::uint32_t row = 0; row < tile.rows; ++row) {
    Places places = {};
    for (std::size_t k = 1; k < map.rank; ++k) {
      places[k] = std::int64_t{coordinates[k]} + std::int64_t{index[k]} * map.element_strides[k];
    }
    add_row(map, part, places, row, tile);
    for (std::size_t k = 1; k < map.rank && ++index[k] == count(map, k); ++k) index[k] = 0;
  }
  return tile;
}

TensorTile make_unfolded_tile(const TileMap& map, std::span<const std::int32_t> coordinates,
                              std::span<const std::uint16_t> offsets, TileEnd end) {
  TensorTile tile = empty_tile(map);
  const RowPart part = row_part(map, coordinates[0], end);
  if (part.from == part.to) return tile;
  Places at = {};
  std::copy(coordinates.begin(), coordinates.end(), at.begin());
  for (std::uint32_t row = 0; row < tile.rows; ++row) {
    Places places = at;
    for (std::size_t k = 0; k < offsets.size(); ++k) places[k + 1] += offsets[k];
    add_row(map, part, places, row, tile);
    // The next pixel: along the first dimension of the image, then the others, then the next image.
    for (std::size_t k = 1; k < map.rank; ++k) {
      at[k] += map.element_strides[k];
      if (k > map.image_rank()) break;
      if (at[k] < static_cast<std::int64_t>(map.extents[k]) + map.upper_corner(k)) break;
      at[k] = map.lower_corner(k);
    }
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
