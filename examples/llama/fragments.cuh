#pragma once

// Products of small matrices by the tensor cores, for a warp. PTX calls the registers of a lane a
// fragment. Lane 4*i + j has, of a matrix
// - A, 16 x 16: rows i and i + 8, columns 2*j, 2*j + 1, 2*j + 8 and 2*j + 9
// - B, 16 x 8: the same places of column i
// - C, 16 x 8 in float: rows i and i + 8, columns 2*j and 2*j + 1
// (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type").
#include <cuda_bf16.h>

namespace llama {

// c += a * b. The elements of `a` are (row i, low columns), (row i + 8, low), (i, high), (i + 8,
// high).
__device__ __forceinline__ void multiply_add(float (&c)[4], unsigned a0, unsigned a1, unsigned a2,
                                             unsigned a3, unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// An 8 x 8 matrix of bf16, of which lane 4*i + j has row i, columns 2*j and 2*j + 1.
__device__ __forceinline__ unsigned transposed(unsigned pair) {
  unsigned result;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
  return result;
}

__device__ __forceinline__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
__device__ __forceinline__ float round_to_bf16(float value) {
  return __bfloat162float(__float2bfloat16(value));
}

// The low halves of two registers, and the high ones.
__device__ __forceinline__ unsigned low_halves(unsigned first, unsigned second) {
  return __byte_perm(first, second, 0x5410);
}
__device__ __forceinline__ unsigned high_halves(unsigned first, unsigned second) {
  return __byte_perm(first, second, 0x7632);
}

}  // namespace llama
