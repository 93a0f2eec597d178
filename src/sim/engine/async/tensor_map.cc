#include "sim/engine/async/tensor_map.h"

#include <cstring>

namespace baton::sim {
namespace {

// Any bytes that are no map should be told from one: "baton tm", then the number of the layout.
constexpr std::uint64_t kMagic = 0x6d74206e6f746162;
constexpr std::uint64_t kLayout = 1;

struct Stored {
  std::uint64_t magic = kMagic;
  std::uint64_t layout = kLayout;
  TileMap map;
};
static_assert(sizeof(Stored) <= kTensorMapBytes);

bool is_possible(const TileMap& map) {
  const std::uint64_t size = map.strides[0];
  if (size != 1 && size != 2 && size != 4 && size != 8) return false;
  if (map.rank < 1 || map.rank > kMaxTensorRank || map.type > TensorType::kTF32Ftz) return false;
  if (map.swizzle_bits > 3 || map.element_strides[0] != 1 || map.box[0] * size % 16 != 0) {
    return false;
  }
  for (std::size_t k = 0; k < kMaxTensorRank; ++k) {
    if (map.box[k] < 1 || map.box[k] > 256 || map.element_strides[k] < 1) return false;
    if (map.extents[k] > std::uint64_t{1} << 32) return false;
  }
  return true;
}

}  // namespace

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
  return is_possible(stored.map) ? std::optional(stored.map) : std::nullopt;
}

}  // namespace baton::sim
