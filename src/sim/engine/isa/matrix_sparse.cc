#include "sim/engine/isa/matrix_sparse.h"

#include <algorithm>

namespace baton::sim {
namespace {

// Elements of a row that make a unit; a half one of tf32.
constexpr unsigned kTwoUnitsPerElement = 0;
unsigned elements_of_unit(MatrixType type) {
  if (type == MatrixType::kTF32) return kTwoUnitsPerElement;
  return bits_of(type) == 4 ? 2 : 1;
}

unsigned units_of_row(MatrixType type, unsigned k) {
  const unsigned elements = elements_of_unit(type);
  return elements == kTwoUnitsPerElement ? 2 * k : k / elements;
}

bool is_wide(MatrixType type) {
  return bits_of(type) >= 16;
}

// The four bits for a group of four units.
unsigned index_bits(MatrixType type, unsigned k, const std::uint32_t* metadata, unsigned selector,
                    unsigned row, unsigned group) {
  const unsigned lanes = 4 * (row % 8);  // that hold the row, four of them
  const unsigned lower = row / 8;
  const bool is_long = sparse_selectors(type, k) == (is_wide(type) ? 2u : 1u);
  if (is_wide(type)) {
    // A word has 16 units of a row, and of the one eight rows below.
    const unsigned lane = is_long ? 2 * selector + group / 4 : selector;
    return metadata[lanes + lane] >> (16 * lower + 4 * (group % 4)) & 15;
  }
  const unsigned lane = is_long ? lower + 2 * (group / 8) : 2 * selector + lower;
  return metadata[lanes + lane] >> (4 * (group % 8)) & 15;
}

}  // namespace

unsigned sparse_selectors(MatrixType type, unsigned k) {
  // All lanes together have four times 32 bits for two rows, which take one bit a unit.
  return std::max(64 / units_of_row(type, k), 1u);
}

void expand_sparse(MatrixType type, unsigned k, const std::uint32_t* metadata, unsigned selector,
                   const float* held, float* all) {
  const unsigned units = units_of_row(type, k);
  const unsigned elements = elements_of_unit(type);
  std::fill_n(all, 16 * k, 0.0f);
  for (unsigned row = 0; row < 16; ++row, held += k / 2, all += k) {
    for (unsigned group = 0; group < units / 4; ++group) {
      const unsigned bits = index_bits(type, k, metadata, selector, row, group);
      if (elements == kTwoUnitsPerElement) {
        all[group * 2 + (bits >> 1 & 1)] = held[group];
        continue;
      }
      for (unsigned one = 0; one < 2; ++one) {
        const unsigned unit = group * 4 + (bits >> (2 * one) & 3);
        for (unsigned e = 0; e < elements; ++e) {
          all[unit * elements + e] = held[(group * 2 + one) * elements + e];
        }
      }
    }
  }
}

}  // namespace baton::sim
