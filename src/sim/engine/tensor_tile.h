#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/tensor_map.h"

namespace baton::sim {

// The box of a tensor at some coordinates: how it lies in global memory, and in shared memory as a
// dense tile. A plain value.
struct TensorTile {
  // Elements side by side in both.
  struct Run {
    std::uint64_t address = 0;  // in global memory
    std::uint32_t at = 0;       // in the tile, before it is swizzled, in bytes
    std::uint32_t bytes = 0;
  };

  TensorType type = TensorType::kU8;
  std::uint8_t swizzle_bits = 0;
  bool fills_nan = false;
  std::uint32_t bytes = 0;  // of the whole tile, a multiple of 16
  std::vector<Run> runs;    // what lies in the tensor
};

// In bytes, of any tile of the map.
std::uint64_t tile_bytes(const TensorMap& map);

// `coordinates` of the first element, the innermost first, one for each dimension of the map; some
// of the box may lie outside the tensor. The caller has seen to it that the tile is not too large.
TensorTile make_tile(const TensorMap& map, std::span<const std::int32_t> coordinates);

// Where byte `at` of a tile lies that begins at that address in shared memory, a multiple of 128:
// in bytes from there. Bytes of one 16-byte chunk stay side by side.
std::uint32_t swizzled(const TensorTile& tile, std::uint32_t address, std::uint32_t at);

// What elements outside the tensor are loaded as, over the whole tile.
void fill_outside(const TensorTile& tile, std::span<std::byte> bytes);

// What a load makes of elements: subnormals become zeros, and f32 is rounded to tf32, to the
// nearest, ties away from zero, where the type says so.
void convert_loaded(TensorType type, std::span<std::byte> bytes);

}  // namespace baton::sim
