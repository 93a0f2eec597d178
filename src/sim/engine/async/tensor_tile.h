#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/async/tensor_map.h"

namespace baton::sim {

// The bytes that swizzling keeps together.
inline constexpr std::uint32_t kSwizzleChunk = 16;

// The box of a tensor at some coordinates: how it lies in global memory, and in shared memory, row
// after row. A plain value.
//
// Rows that are narrower than the swizzle's span take a whole span each: the CUDA C++ programming
// guide (13.0, "TMA swizzle") has shared memory allocated for it, and an H200 lays them out so.
// Nothing says what comes after such a row then; here it stays as it was.
struct TensorTile {
  // Elements side by side in both.
  struct Run {
    std::uint64_t address = 0;  // in global memory
    std::uint32_t at = 0;       // in shared memory, from the tile's first byte, before swizzling
    std::uint32_t bytes = 0;
  };

  TensorType type = TensorType::kU8;
  std::uint8_t swizzle_bits = 0;
  bool fills_nan = false;
  std::uint32_t rows = 0;
  std::uint32_t row = 0;    // bytes of one, a multiple of 16
  std::uint32_t pitch = 0;  // from one row to the next in shared memory, in bytes
  std::vector<Run> runs;    // what is moved

  std::uint32_t bytes() const { return rows * row; }     // what an mbarrier counts
  std::uint32_t extent() const { return rows * pitch; }  // what it takes of shared memory
};

// TensorTile::extent() of any tile of the map.
std::uint64_t tile_extent(const TileMap& map);

// Where a row ends that the tensor ends in: loads stop at its last element. Stores write whole
// chunks of 16 bytes, so also what comes after the last element in its chunk, on Hopper GPUs
// (triton-lang/triton#11583 and #11893).
enum class TileEnd { kElement, kChunk };

// `coordinates` of the first element, the innermost first, one for each dimension of the map; some
// of the box may lie outside the tensor. The caller has seen to it that the tile is not too large.
TensorTile make_tile(const TileMap& map, std::span<const std::int32_t> coordinates, TileEnd end);
// The same for a map that unfolds images. A row is a pixel. The walk begins at the coordinates, and
// each pixel is taken as far from there as `offsets` say, one for each dimension of an image (PTX
// ISA 9.0, "Im2col mode").
TensorTile make_unfolded_tile(const TileMap& map, std::span<const std::int32_t> coordinates,
                              std::span<const std::uint16_t> offsets, TileEnd end);

// Where byte `at` of a tile lies that begins at that address in shared memory, a multiple of 128:
// in bytes from there. Bytes of one 16-byte chunk stay side by side.
std::uint32_t swizzled(const TensorTile& tile, std::uint32_t address, std::uint32_t at);

// What elements outside the tensor are loaded as, over the whole tile.
void fill_outside(const TensorTile& tile, std::span<std::byte> bytes);

// What a load makes of elements: subnormals become zeros, and f32 is rounded to tf32, to the
// nearest, ties away from zero, where the type says so.
void convert_loaded(TensorType type, std::span<std::byte> bytes);

}  // namespace baton::sim
