#include "math_functions.h"

template <typename T>
__global__ void unary(T* out, const T* a, unsigned n, int function) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = a[i];
  switch (function) {
#define X(name, expression, host, ulp_f32, ulp_f64, low, high) \
  case kUnary_##name: out[i] = expression; break;
    UNARY_FUNCTIONS(X)
#undef X
  }
}

template <typename T>
__global__ void binary(T* out, const T* a, const T* b, unsigned n, int function) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = a[i], y = b[i];
  switch (function) {
#define X(name, expression, host, ulp_f32, ulp_f64) \
  case kBinary_##name: out[i] = expression; break;
    BINARY_FUNCTIONS(X)
#undef X
  }
}

// The arithmetic that IEEE 754 fixes to the last bit, in its rounding modes.
extern "C" __global__ void rounded_f32(float* out, const float* a, const float* b, const float* c,
                                       unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i], z = c[i];
  float* const mine = out + 24 * i;
  mine[0] = __fadd_rn(x, y), mine[1] = __fadd_rz(x, y);
  mine[2] = __fadd_rd(x, y), mine[3] = __fadd_ru(x, y);
  mine[4] = __fmul_rn(x, y), mine[5] = __fmul_rz(x, y);
  mine[6] = __fmul_rd(x, y), mine[7] = __fmul_ru(x, y);
  mine[8] = __fmaf_rn(x, y, z), mine[9] = __fmaf_rz(x, y, z);
  mine[10] = __fmaf_rd(x, y, z), mine[11] = __fmaf_ru(x, y, z);
  mine[12] = __fdiv_rn(x, y), mine[13] = __fdiv_rz(x, y);
  mine[14] = __fdiv_rd(x, y), mine[15] = __fdiv_ru(x, y);
  mine[16] = __fsqrt_rn(x), mine[17] = __fsqrt_rz(x);
  mine[18] = __fsqrt_rd(x), mine[19] = __fsqrt_ru(x);
  mine[20] = __frcp_rn(x), mine[21] = __frcp_rz(x);
  mine[22] = __frcp_rd(x), mine[23] = __frcp_ru(x);
}

extern "C" __global__ void rounded_f64(double* out, const double* a, const double* b,
                                       const double* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i], y = b[i], z = c[i];
  double* const mine = out + 24 * i;
  mine[0] = __dadd_rn(x, y), mine[1] = __dadd_rz(x, y);
  mine[2] = __dadd_rd(x, y), mine[3] = __dadd_ru(x, y);
  mine[4] = __dmul_rn(x, y), mine[5] = __dmul_rz(x, y);
  mine[6] = __dmul_rd(x, y), mine[7] = __dmul_ru(x, y);
  mine[8] = __fma_rn(x, y, z), mine[9] = __fma_rz(x, y, z);
  mine[10] = __fma_rd(x, y, z), mine[11] = __fma_ru(x, y, z);
  mine[12] = __ddiv_rn(x, y), mine[13] = __ddiv_rz(x, y);
  mine[14] = __ddiv_rd(x, y), mine[15] = __ddiv_ru(x, y);
  mine[16] = __dsqrt_rn(x), mine[17] = __dsqrt_rz(x);
  mine[18] = __dsqrt_rd(x), mine[19] = __dsqrt_ru(x);
  mine[20] = __drcp_rn(x), mine[21] = __drcp_rz(x);
  mine[22] = __drcp_rd(x), mine[23] = __drcp_ru(x);
}

// The fast intrinsics, each within the bound that CUDA states for its range.
extern "C" __global__ void fast(float* out, const float* a, const float* b, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  float* const mine = out + 8 * i;
  mine[0] = __expf(x);
  mine[1] = __logf(y);
  mine[2] = __sinf(x);
  mine[3] = __cosf(x);
  mine[4] = __fdividef(x, y);
  mine[5] = __log2f(y);
  mine[6] = __frsqrt_rn(y);
  mine[7] = __saturatef(x);
}
