#include "sim/engine/async/wgmma_tile.h"

#include <array>

#include "sim/engine/isa/matrix_kernel.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kWordsOfChunk = kChunkBytes / 4;
constexpr std::uint32_t kMostColumns = 256;

std::uint32_t field(std::uint64_t bits, int from, int count) {
  return static_cast<std::uint32_t>(bits >> from) & ((1u << count) - 1);
}

}  // namespace

MatrixDescriptor MatrixDescriptor::of(std::uint64_t bits) {
  constexpr std::uint32_t kUnit = 16;  // of addresses and offsets
  // None, 128, 64 and 32 bytes.
  constexpr std::array<std::uint32_t, 4> kSwizzleBits = {0, 3, 2, 1};
  MatrixDescriptor d;
  d.start = field(bits, 0, 14) * kUnit;
  d.leading = field(bits, 16, 14) * kUnit;
  d.stride = field(bits, 32, 14) * kUnit;
  d.base = field(bits, 49, 3);
  d.swizzle_bits = kSwizzleBits[field(bits, 62, 2)];
  return d;
}

std::uint32_t MatrixDescriptor::swizzled(std::uint32_t offset) const {
  constexpr std::uint32_t kAddresses = (1u << 18) - 1;
  const std::uint32_t at = (start + offset) & kAddresses;
  const std::uint32_t row = (at >> 7) - base;
  return at ^ (row & ((1u << swizzle_bits) - 1)) << 4;
}

std::uint32_t MatrixDescriptor::k_major(std::uint32_t row, std::uint32_t chunk) const {
  const std::uint32_t pitch = kChunkBytes << swizzle_bits;
  const std::uint32_t next = swizzle_bits == 0 ? leading : kChunkBytes;
  return swizzled(row % 8 * pitch + row / 8 * stride + chunk * next);
}

std::uint32_t MatrixDescriptor::rows_major(std::uint32_t k, std::uint32_t chunk) const {
  const std::uint32_t pitch = kChunkBytes << swizzle_bits;
  if (swizzle_bits == 0) return swizzled(k % 8 * pitch + k / 8 * leading + chunk * stride);
  const std::uint32_t within = chunk & ((1u << swizzle_bits) - 1);
  const std::uint32_t far = (chunk >> swizzle_bits) * leading;
  return swizzled(k % 8 * pitch + k / 8 * stride + within * kChunkBytes + far);
}

void TilePart::list_chunks(std::vector<std::uint32_t>* offsets) const {
  offsets->clear();
  if (!rows_major) {
    for (std::uint32_t row = first; row < first + count; ++row) {
      for (std::uint32_t chunk = 0; chunk < chunks_along_k; ++chunk) {
        offsets->push_back(descriptor.k_major(row, chunk));
      }
    }
    return;
  }
  for (std::uint32_t k = 0; k < columns(); ++k) {
    for (std::uint32_t chunk = first / 8; chunk < (first + count) / 8; ++chunk) {
      offsets->push_back(descriptor.rows_major(k, chunk));
    }
  }
}

void gather_rows(const TilePart& part, const std::vector<std::uint32_t>& words, float* to) {
  const MatrixKernel& kernel = matrix_kernel();
  if (!part.rows_major) return kernel.widen(part.type, words.data(), words.size(), to);
  // For each k eight rows lie side by side, and the next eight after them.
  const std::uint32_t columns = part.columns();
  std::array<float, 16 * 64> rows;
  kernel.widen(part.type, words.data(), words.size(), rows.data());
  for (std::uint32_t k = 0; k < columns; k += 8) {
    kernel.transpose(rows.data() + k * part.count, part.count, to + k, columns);
  }
}

void gather_columns(const TilePart& part, const std::vector<std::uint32_t>& words, float* to) {
  const MatrixKernel& kernel = matrix_kernel();
  if (part.rows_major) return kernel.widen(part.type, words.data(), words.size(), to);
  std::array<float, 8 * kMostColumns> rows;
  const std::uint32_t words_of_row = part.chunks_along_k * kWordsOfChunk;
  for (std::uint32_t row = 0; row < part.count; row += 8) {
    kernel.widen(part.type, words.data() + row * words_of_row, 8 * words_of_row, rows.data());
    kernel.transpose(rows.data(), part.columns(), to + row, part.count);
  }
}

}  // namespace baton::sim
