#pragma once

#include <cstdint>

#include "sim/engine/isa/matrix.h"

namespace baton::sim {

// Structured sparsity (PTX ISA 9.0, "Matrix multiply-accumulate operation using mma.sp instruction
// with sparse matrix A", and likewise for wgmma). Of four units of a row, two are there; a unit is
// an element of 16 or 8 bits, half of one of tf32, or a pair of elements of 4 bits. Two bits of
// metadata for each of the two, the first one lowest, say which of the four it is.
//
// Which lanes have the metadata of which rows and columns: figures "Sparse MMA metadata" of the
// PTX ISA; as layouts, ELayout_64x64, _64x32 and _64x16 of CUTLASS (include/cute/atom/
// mma_traits_sm90_gmma_sparse.hpp).

// Spreads `held`, 16 rows with k / 2 numbers, over the 16 rows of k numbers of `all`; the others
// become 0. `metadata` are the words of the warp's lanes.
void expand_sparse(MatrixType type, unsigned k, const std::uint32_t* metadata, unsigned selector,
                   const float* held, float* all);

// How many selectors there are, for rows of k elements: 1, 2 or 4.
unsigned sparse_selectors(MatrixType type, unsigned k);

}  // namespace baton::sim
