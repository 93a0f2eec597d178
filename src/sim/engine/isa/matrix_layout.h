#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/isa/matrix.h"

namespace baton::sim {

// Where lanes keep the elements of matrices: numbers of elements, row by row. Element e of a
// register has number (first + e * step) & mask, where the matrix has mask + 1 elements, which is a
// power of two.
struct ElementRun {
  std::uint32_t first = 0;
  std::uint32_t step = 1;
};

// Elements of a register.
inline unsigned elements_per(MatrixType type) {
  return type == MatrixType::kF64 ? 1 : 32 / bits_of(type);
}

struct MatrixShape {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t count() const { return rows * columns; }
};
inline MatrixShape shape_of(const MmaForm& form, MatrixPart part) {
  if (part == MatrixPart::kA) return {form.m, form.k};
  if (part == MatrixPart::kB) return {form.k, form.n};
  return {form.m, form.n};
}

// mma (PTX ISA 9.0, "Matrix Fragments for mma"): groups of four lanes have a row of a and c, and a
// column of b; further registers are eight rows below and then to the right.
inline ElementRun run_of_operand(const MmaForm& form, MatrixPart part, unsigned per, unsigned lane,
                                 unsigned r) {
  const unsigned group = lane / 4;
  const unsigned within = lane % 4;
  const bool tall = form.m == 16;
  if (part == MatrixPart::kA) {
    const unsigned row = group + (tall && r % 2 != 0 ? 8 : 0);
    return {row * form.k + within * per + (tall ? r / 2 : r) * 4 * per, 1};
  }
  if (part == MatrixPart::kB) {
    return {(within * per + r * 4 * per) * form.n + group, form.n};
  }
  const unsigned element = r * per;
  return {(group + (element >= 2 ? 8 : 0)) * form.n + within * 2 + element % 2, 1};
}

// wmma, where PTX leaves the order open: the elements one after another, row by row, dealt out to
// the lanes. Matrices with fewer elements than there is room for are held more than once.
inline ElementRun run_of_fragment(unsigned per, unsigned lane, unsigned r) {
  return {r * per * kLanes + lane, kLanes};
}

inline std::uint64_t element_bits(std::uint64_t bits, MatrixType type, unsigned e) {
  const unsigned width = bits_of(type);
  return width == 64 ? bits : bits >> (e * width) & ((std::uint64_t{1} << width) - 1);
}

// Bytes of a register's lane.
inline std::size_t register_bytes(MatrixType type) {
  return type == MatrixType::kF64 ? 8 : 4;
}

}  // namespace baton::sim
