#include "sim/engine/async/tensor_map.h"

#include <fmt/core.h>

#include <cstring>

namespace baton::sim {
namespace {

// Any bytes that are no map should be told from one: "baton tm", then the number of the layout.
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
         map.element_strides[0] != 1;
}

std::string flaw_of_dimension(const TileMap& map, std::size_t k) {
  if (map.extents[k] < 1 || map.extents[k] > kMaxTensorExtent) {
    return fmt::format("its tensor has {} elements in dimension {}: 1 to {} are possible",
                       map.extents[k], k, kMaxTensorExtent);
  }
  if (map.box[k] < 1 || map.box[k] > kMaxTensorBox) {
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

}  // namespace

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
  if (stored.magic != kMagic || stored.layout != kLayout) return std::nullopt;
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
