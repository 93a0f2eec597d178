#include "sim/engine/async/tensor_map.h"

#include <fmt/core.h>

#include <cstring>

#include "sim/engine/async/hardware_map.h"

namespace baton::sim {
namespace {

// Any bytes that are not a map should be told from one: "baton tm", then the number of the layout.
constexpr std::uint64_t kMagic = 0x6d74206e6f746162;
constexpr std::uint64_t kLayout = 1;

constexpr std::uint64_t kUnit = 16;  // of addresses, strides and rows of boxes, in bytes

struct Stored {
  std::uint64_t magic = kMagic;
  std::uint64_t layout = kLayout;
  TileMap map;
};
static_assert(sizeof(Stored) <= kTensorMapBytes);

bool is_floating(TensorType type) {
  return type >= TensorType::kF16;
}

// What only a write into the bytes leaves, and no instruction.
bool is_damaged(const TileMap& map) {
  return map.rank < 1 || map.rank > kMaxTensorRank || map.type > TensorType::kTF32Ftz ||
         map.strides[0] != size_of(map.type) || map.swizzle_bits > 3 || map.fills_nan > 1 ||
         map.element_strides[0] != 1 || map.unfolds > 1 || (map.unfolds == 1 && map.rank < 3);
}

std::string flaw_of_dimension(const TileMap& map, std::size_t k) {
  if (map.extents[k] < 1 || map.extents[k] > kMaxTensorExtent) {
    return fmt::format("its tensor has {} elements in dimension {}: 1 to {} are possible",
                       map.extents[k], k, kMaxTensorExtent);
  }
  const bool has_box = map.unfolds == 0 || k == 0;
  if (has_box && (map.box[k] < 1 || map.box[k] > kMaxTensorBox)) {
    return fmt::format("its box has {} elements in dimension {}: 1 to {} are possible", map.box[k],
                       k, kMaxTensorBox);
  }
  if (map.element_strides[k] < 1 || map.element_strides[k] > kMaxElementStride) {
    return fmt::format("its element stride in dimension {} is {}: 1 to {} are possible", k,
                       map.element_strides[k], kMaxElementStride);
  }
  if (k > 0 && (map.strides[k] % kUnit != 0 || map.strides[k] >= kMaxTensorStride)) {
    return fmt::format(
        "its stride in dimension {} is {} bytes: it has to be a multiple of {} "
        "below {}",
        k, map.strides[k], kUnit, kMaxTensorStride);
  }
  return "";
}

std::string flaw_of_unfolding(const TileMap& map) {
  if (map.pixels() < 1 || map.pixels() > kMostPixels) {
    return fmt::format("its copies have {} pixels: 1 to {} are possible", map.pixels(),
                       kMostPixels);
  }
  for (std::size_t k = 1; k <= map.image_rank(); ++k) {
    const std::int64_t pixels =
        static_cast<std::int64_t>(map.extents[k]) + map.upper_corner(k) - map.lower_corner(k);
    if (pixels >= 1) continue;
    return fmt::format(
        "its range has no pixel in dimension {}: it begins {} behind the first of {}, and ends {} "
        "behind the last",
        k, map.lower_corner(k), map.extents[k], map.upper_corner(k));
  }
  return "";
}

}  // namespace

int TileMap::corner(std::uint16_t packed, std::size_t k) const {
  const unsigned bits = corner_bits();
  const unsigned raw = (packed >> ((k - 1) * bits)) & ((1u << bits) - 1);
  const bool is_negative = (raw >> (bits - 1)) != 0;
  return static_cast<int>(raw) - (is_negative ? 1 << bits : 0);
}

bool TileMap::set_unfolding(std::uint32_t pixels_of_copy, const int* lower, const int* upper) {
  const int most = 1 << (corner_bits() - 1);
  const auto packed = [&](const int* corners) {
    unsigned result = 0;
    for (std::size_t k = 0; k < image_rank(); ++k) {
      const auto raw = static_cast<unsigned>(corners[k]) & ((1u << corner_bits()) - 1);
      result |= raw << (k * corner_bits());
    }
    return static_cast<std::uint16_t>(result);
  };
  for (std::size_t k = 0; k < image_rank(); ++k) {
    if (lower[k] < -most || lower[k] >= most || upper[k] < -most || upper[k] >= most) return false;
  }
  unfolds = 1;
  box[1] = static_cast<std::uint16_t>(pixels_of_copy);
  box[2] = packed(lower);
  box[3] = packed(upper);
  return true;
}

std::uint32_t size_of(TensorType type) {
  switch (type) {
    case TensorType::kU8:
      return 1;
    case TensorType::kU16:
    case TensorType::kF16:
    case TensorType::kBF16:
      return 2;
    case TensorType::kU64:
    case TensorType::kI64:
    case TensorType::kF64:
      return 8;
    default:
      return 4;
  }
}

TensorMapBytes pack(const TileMap& map) {
  TensorMapBytes bytes{};
  Stored stored;
  stored.map = map;
  std::memcpy(bytes.data(), &stored, sizeof(stored));
  return bytes;
}

std::optional<TileMap> unpack_tensor_map(const TensorMapBytes& bytes) {
  Stored stored;
  std::memcpy(&stored, bytes.data(), sizeof(stored));
  if (stored.magic != kMagic) return read_hardware_map(bytes);
  if (stored.layout != kLayout) return std::nullopt;
  return is_damaged(stored.map) ? std::nullopt : std::optional(stored.map);
}

std::string flaw_of(const TileMap& map) {
  if (map.address % kUnit != 0) {
    return fmt::format("its tensor is at {:#x}: the address has to be a multiple of {}",
                       map.address, kUnit);
  }
  for (std::size_t k = 0; k < map.rank; ++k) {
    if (std::string flaw = flaw_of_dimension(map, k); !flaw.empty()) return flaw;
  }
  if (map.unfolds != 0) {
    if (std::string flaw = flaw_of_unfolding(map); !flaw.empty()) return flaw;
  }
  const std::uint32_t row = map.box[0] * map.element_size();
  if (row % kUnit != 0) {
    return fmt::format("a row of its box has {} bytes: they have to be a multiple of {}", row,
                       kUnit);
  }
  const std::uint32_t span = 16u << map.swizzle_bits;
  if (map.swizzle_bits != 0 && row > span) {
    return fmt::format("a row of its box has {} bytes: {} are possible with its swizzle", row,
                       span);
  }
  if (map.fills_nan != 0 && !is_floating(map.type)) {
    return "it fills with NaN, which its type does not have";
  }
  return "";
}

}  // namespace baton::sim
