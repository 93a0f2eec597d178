// Matrix instructions of one warp. Matrices lie row by row in global memory, elements of less than
// a byte packed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

namespace {

constexpr unsigned kLanes = 32;

// Where mma has the elements of a lane's registers (PTX ISA, "Matrix Fragments for mma").
template <int M, int N, int K, int Bits>
struct Layout {
  static constexpr int kPer = Bits == 64 ? 1 : 32 / Bits;
  static constexpr int kSlot = Bits == 64 ? 64 : 32;
  static constexpr int kA = M * K * Bits / (kSlot * 32);
  static constexpr int kB = N * K * Bits / (kSlot * 32);

  __device__ static unsigned a(int r, int e) {
    const unsigned group = threadIdx.x / 4, within = threadIdx.x % 4;
    const unsigned row = group + (M == 16 && r % 2 == 1 ? 8 : 0);
    const unsigned pair = M == 16 ? r / 2 : r;
    return row * K + within * kPer + e + pair * 4 * kPer;
  }
  __device__ static unsigned b(int r, int e) {
    const unsigned group = threadIdx.x / 4, within = threadIdx.x % 4;
    return (within * kPer + e + r * 4 * kPer) * N + group;
  }
  // The element-th of c and d.
  __device__ static unsigned c(int element) {
    const unsigned group = threadIdx.x / 4, within = threadIdx.x % 4;
    return (group + (element >= 2 ? 8 : 0)) * N + within * 2 + element % 2;
  }
};

template <int Bits>
struct WordOf {
  using type = unsigned;
};
template <>
struct WordOf<64> {
  using type = double;
};
template <int Bits>
using Word = typename WordOf<Bits>::type;

template <int Bits>
__device__ unsigned element(const void* data, unsigned index) {
  if constexpr (Bits == 16) {
    return static_cast<const unsigned short*>(data)[index];
  } else if constexpr (Bits == 32) {
    return static_cast<const unsigned*>(data)[index];
  } else {
    const unsigned at = index * Bits;
    return static_cast<const unsigned char*>(data)[at / 8] >> at % 8 & ((1u << Bits) - 1);
  }
}

template <class L, int Bits, int Count, bool OfA>
__device__ void fetch(Word<Bits> (&registers)[Count], const void* data) {
  for (int r = 0; r < Count; ++r) {
    registers[r] = 0;
    for (int e = 0; e < L::kPer; ++e) {
      const unsigned at = OfA ? L::a(r, e) : L::b(r, e);
      if constexpr (Bits == 64) {
        registers[r] = static_cast<const double*>(data)[at];
      } else {
        registers[r] |= element<Bits>(data, at) << e * Bits % 32;
      }
    }
  }
}

}  // namespace

#define REGISTERS_1(c, r) c(r[0])
#define REGISTERS_2(c, r) c(r[0]), c(r[1])
#define REGISTERS_4(c, r) c(r[0]), c(r[1]), c(r[2]), c(r[3])

// NAME, shape, bits of an element of a and b, its register's constraint, the numbers of registers
// of a and b, type and constraint of c and d, their number, the instruction and its operands.
#define MMA_KERNEL(NAME, M, N, K, BITS, IN, COUNT_A, COUNT_B, TYPE, INOUT, COUNT_C, TEXT) \
  extern "C" __global__ void NAME(TYPE* d, const void* a, const void* b, const TYPE* c) { \
    using L = Layout<M, N, K, BITS>;                                                      \
    static_assert(L::kA == COUNT_A && L::kB == COUNT_B);                                  \
    Word<BITS> left[COUNT_A], right[COUNT_B];                                             \
    fetch<L, BITS, COUNT_A, true>(left, a);                                               \
    fetch<L, BITS, COUNT_B, false>(right, b);                                             \
    TYPE sums[COUNT_C];                                                                   \
    for (int e = 0; e < COUNT_C; ++e) sums[e] = c[L::c(e)];                               \
    asm volatile(TEXT                                                                     \
                 : REGISTERS_##COUNT_C(INOUT, sums)                                       \
                 : REGISTERS_##COUNT_A(IN, left), REGISTERS_##COUNT_B(IN, right));        \
    for (int e = 0; e < COUNT_C; ++e) d[L::c(e)] = sums[e];                               \
  }

#define OPERANDS_4_4_2 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define OPERANDS_4_2_1 " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
#define OPERANDS_2_1_1 " {%0,%1}, {%2}, {%3}, {%0,%1};"
#define F_INOUT "+f"
#define D_INOUT "+d"
#define R_INOUT "+r"
#define R_IN "r"
#define D_IN "d"

MMA_KERNEL(mma_f16_k16, 16, 8, 16, 16, R_IN, 4, 2, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" OPERANDS_4_4_2)
MMA_KERNEL(mma_f16_k8, 16, 8, 8, 16, R_IN, 2, 1, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" OPERANDS_4_2_1)
MMA_KERNEL(mma_bf16_k16, 16, 8, 16, 16, R_IN, 4, 2, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" OPERANDS_4_4_2)
MMA_KERNEL(mma_bf16_k8, 16, 8, 8, 16, R_IN, 2, 1, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32" OPERANDS_4_2_1)
MMA_KERNEL(mma_tf32_k8, 16, 8, 8, 32, R_IN, 4, 2, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" OPERANDS_4_4_2)
MMA_KERNEL(mma_tf32_k4, 16, 8, 4, 32, R_IN, 2, 1, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32" OPERANDS_4_2_1)
MMA_KERNEL(mma_f64_m8, 8, 8, 4, 64, D_IN, 1, 1, double, D_INOUT, 2,
           "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64" OPERANDS_2_1_1)
MMA_KERNEL(mma_s8_k32, 16, 8, 32, 8, R_IN, 4, 2, int, R_INOUT, 4,
           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" OPERANDS_4_4_2)
MMA_KERNEL(mma_u8_k16, 16, 8, 16, 8, R_IN, 2, 1, int, R_INOUT, 4,
           "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32" OPERANDS_4_2_1)
MMA_KERNEL(mma_s4_k64, 16, 8, 64, 4, R_IN, 4, 2, int, R_INOUT, 4,
           "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32" OPERANDS_4_4_2)
MMA_KERNEL(mma_b1_k256, 16, 8, 256, 1, R_IN, 4, 2, int, R_INOUT, 4,
           "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc" OPERANDS_4_4_2)
#if __CUDA_ARCH__ >= 890
MMA_KERNEL(mma_e4m3_k32, 16, 8, 32, 8, R_IN, 4, 2, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" OPERANDS_4_4_2)
MMA_KERNEL(mma_e5m2_k32, 16, 8, 32, 8, R_IN, 4, 2, float, F_INOUT, 4,
           "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32" OPERANDS_4_4_2)
#endif

// Sums in half precision: c and d are packed, two elements of a row a register.
extern "C" __global__ void mma_f16_f16(__half* d, const void* a, const void* b, const __half* c) {
  using L = Layout<16, 8, 16, 16>;
  unsigned left[4], right[2], sums[2];
  fetch<L, 16, 4, true>(left, a);
  fetch<L, 16, 2, false>(right, b);
  for (int r = 0; r < 2; ++r) sums[r] = reinterpret_cast<const unsigned*>(c)[L::c(2 * r) / 2];
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
      : "+r"(sums[0]), "+r"(sums[1])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  for (int r = 0; r < 2; ++r) reinterpret_cast<unsigned*>(d)[L::c(2 * r) / 2] = sums[r];
}

// Four 8x8 matrices of 16-bit elements by ldmatrix, as they are and transposed, then by movmatrix;
// `out` gets each lane's registers, 32 lanes a register.
extern "C" __global__ void load_matrices(unsigned* out, const uint4* in) {
  __shared__ uint4 rows[kLanes];
  rows[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(rows + threadIdx.x));
  unsigned r[15];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[8]), "=r"(r[9])
               : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%0}, [%1];"
               : "=r"(r[10])
               : "l"(rows + threadIdx.x));
  for (int k = 0; k < 4; ++k) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[11 + k]) : "r"(r[k]));
  }
  for (int k = 0; k < 15; ++k) out[k * kLanes + threadIdx.x] = r[k];
}

#if __CUDA_ARCH__ >= 900
// The same way back: the rows of four matrices out of registers, then of their transposes.
extern "C" __global__ void store_matrices(uint4* out, const unsigned* in) {
  __shared__ uint4 rows[2 * kLanes];
  unsigned r[4];
  for (int k = 0; k < 4; ++k) r[k] = in[k * kLanes + threadIdx.x];
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(rows + threadIdx.x));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(at + kLanes * 16),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
  __syncwarp();
  out[threadIdx.x] = rows[threadIdx.x];
  out[kLanes + threadIdx.x] = rows[kLanes + threadIdx.x];
}
#endif

// wmma: d = a * b + 2 * c, with a and b by rows or by columns.
template <int M, int N, int K, class Element, bool RowsA, bool RowsB, class T, class Acc>
__device__ void fragments(Acc* d, const T* a, const T* b, const Acc* c) {
  namespace wmma = nvcuda::wmma;
  using OfA = std::conditional_t<RowsA, wmma::row_major, wmma::col_major>;
  using OfB = std::conditional_t<RowsB, wmma::row_major, wmma::col_major>;
  __shared__ alignas(32) Acc tile[M * N];
  wmma::fragment<wmma::matrix_a, M, N, K, Element, OfA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, Element, OfB> right;
  wmma::fragment<wmma::accumulator, M, N, K, Acc> sums;
  wmma::load_matrix_sync(left, a, RowsA ? K : M);
  wmma::load_matrix_sync(right, b, RowsB ? N : K);
  wmma::load_matrix_sync(sums, c, N, wmma::mem_row_major);
  for (int e = 0; e < sums.num_elements; ++e) sums.x[e] = sums.x[e] + sums.x[e];
  wmma::mma_sync(sums, left, right, sums);
  wmma::store_matrix_sync(tile, sums, M, wmma::mem_col_major);
  __syncwarp();
  for (unsigned at = threadIdx.x; at < M * N; at += kLanes) d[at] = tile[at % N * M + at / N];
}

#define WMMA_KERNEL(NAME, M, N, K, ELEMENT, ROWS_A, ROWS_B, T, ACC)               \
  extern "C" __global__ void NAME(ACC* d, const T* a, const T* b, const ACC* c) { \
    fragments<M, N, K, ELEMENT, ROWS_A, ROWS_B>(d, a, b, c);                      \
  }

WMMA_KERNEL(wmma_f16, 16, 16, 16, __half, true, true, __half, float)
WMMA_KERNEL(wmma_f16_columns, 16, 16, 16, __half, false, false, __half, float)
WMMA_KERNEL(wmma_f16_f16, 16, 16, 16, __half, true, false, __half, __half)
WMMA_KERNEL(wmma_f16_tall, 32, 8, 16, __half, false, true, __half, float)
WMMA_KERNEL(wmma_f16_wide, 8, 32, 16, __half, true, false, __half, float)
WMMA_KERNEL(wmma_bf16, 16, 16, 16, __nv_bfloat16, true, true, __nv_bfloat16, float)
WMMA_KERNEL(wmma_bf16_tall, 32, 8, 16, __nv_bfloat16, true, false, __nv_bfloat16, float)
WMMA_KERNEL(wmma_tf32, 16, 16, 8, nvcuda::wmma::precision::tf32, true, false, float, float)
WMMA_KERNEL(wmma_f64, 8, 8, 4, double, true, true, double, double)
WMMA_KERNEL(wmma_s8, 16, 16, 16, signed char, true, false, signed char, int)
WMMA_KERNEL(wmma_u8_wide, 8, 32, 16, unsigned char, true, true, unsigned char, int)
