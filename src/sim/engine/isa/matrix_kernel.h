#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/isa/matrix.h"

namespace baton::sim {

// sums (m x n) += a (m x k) * b (k x n), row by row; m is a multiple of 4, n one of 8.
struct ProductShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
};

// How one processor variant works on matrices of numbers in single precision: where the time of
// mma and wgmma goes. Every variant gives the same bits.
struct MatrixKernel {
  // The elements of `type` in `count` words, one after another. Exact; the low bits of tf32 do not
  // count. Not for f64 and s32.
  void (*widen)(MatrixType type, const std::uint32_t* words, std::size_t count, float* to);
  // to[c * step + r] becomes from[r * columns + c], for 8 rows.
  void (*transpose)(const float* from, std::size_t columns, float* to, std::size_t step);
  // Eight rows of `width` numbers, a multiple of 4, to rows that are `step` numbers apart.
  void (*copy_rows)(const float* from, std::size_t width, float* to, std::size_t step);
  // Adds the products in the order of k, each by a fused multiply-add.
  void (*multiply)(const ProductShape& shape, const float* a, const float* b, float* sums);
  // An 8x8 accumulator in single precision, of which two registers hold the even and the odd
  // columns: to rows of a matrix that are `step` numbers apart, and back. NaN becomes 0x7fffffff.
  void (*gather_pairs)(const std::uint32_t* even, const std::uint32_t* odd, float* to,
                       std::size_t step);
  void (*scatter_pairs)(const float* from, std::size_t step, std::uint32_t* even,
                        std::uint32_t* odd);
  // Likewise in half precision, in one register; rounded to nearest even.
  void (*gather_halves)(const std::uint32_t* words, float* to, std::size_t step);
  void (*scatter_halves)(const float* from, std::size_t step, std::uint32_t* words);
};

// That of the best variant for this processor.
const MatrixKernel& matrix_kernel();

}  // namespace baton::sim
