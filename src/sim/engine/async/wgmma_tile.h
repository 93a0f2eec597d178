#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/isa/matrix.h"

namespace baton::sim {

// A matrix in shared memory as wgmma reads it (PTX ISA 9.0, "Shared Memory Matrix Layout",
// "Strides" and "Matrix Descriptor Format" of the warpgroup's instructions; as layouts, the
// comments on canonical layouts in CUTLASS, include/cute/arch/mma_sm90_desc.hpp and
// include/cute/atom/mma_traits_sm90_gmma.hpp).
//
// It lies in chunks of 16 bytes. Where k is major, a chunk has elements of one row that follow each
// other along k, and there are two of them; rows are 16, 32, 64 or 128 bytes apart, by the swizzle,
// and groups of eight rows the stride. Where the other dimension is major, a chunk has elements of
// one k. In either case bits 4 to 6 of an address are exclusive-ored with those from bit 7 on.
struct MatrixDescriptor {
  std::uint32_t start = 0;    // bytes, in the block's shared memory
  std::uint32_t leading = 0;  // byte offsets
  std::uint32_t stride = 0;
  std::uint32_t base = 0;  // of the pattern of the swizzle, in rows of 128 bytes
  std::uint32_t swizzle_bits = 0;

  static MatrixDescriptor of(std::uint64_t bits);

  // Where chunk `chunk` of a row lies, where k is major.
  std::uint32_t k_major(std::uint32_t row, std::uint32_t chunk) const;
  // Where eight rows from 8 * chunk on lie, of one k, where k is not major.
  std::uint32_t rows_major(std::uint32_t k, std::uint32_t chunk) const;

 private:
  std::uint32_t swizzled(std::uint32_t offset) const;
};

inline constexpr std::uint32_t kChunkBytes = 16;

// Rows [first, first + count) of a tile.
struct TilePart {
  MatrixDescriptor descriptor;
  MatrixType type = MatrixType::kNone;
  bool rows_major = false;  // of elements with 16 bits alone
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t chunks_along_k = 2;  // 4 of b where a is sparse

  // Elements along k.
  std::uint32_t columns() const { return chunks_along_k * kChunkBytes * 8 / bits_of(type); }
  // The offsets of all its chunks, in the order in which gather() wants their bytes.
  void list_chunks(std::vector<std::uint32_t>* offsets) const;
};

// The numbers of a tile out of the bytes of its chunks: one row after another (a), or one column
// (b), of which there are columns().
void gather_rows(const TilePart& part, const std::vector<std::uint32_t>& words, float* to);
void gather_columns(const TilePart& part, const std::vector<std::uint32_t>& words, float* to);

}  // namespace baton::sim
