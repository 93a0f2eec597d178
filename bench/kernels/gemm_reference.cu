// What gemm_prefetch works on, and what its results are checked against: the same, worked out in the
// plainest way.
//
//   FP8       1: weights and normed values are e4m3; 0: bf16
#include <cuda_bf16.h>

constexpr unsigned kWarp = 32;
constexpr unsigned kFull = 0xffffffffu;

__device__ __forceinline__ unsigned hash_of(unsigned long long i) {
  return static_cast<unsigned>(i * 0x9E3779B97F4A7C15ull >> 56);
}

// bf16, between -0.5 and 0.5.
extern "C" __global__ void make_values(__nv_bfloat16* to, unsigned long long count) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    to[i] = __float2bfloat16((static_cast<float>(hash_of(i)) - 127.5f) / 256.0f);
  }
}

// e4m3 of both signs, from 1/8 to 15/8.
extern "C" __global__ void make_bytes(unsigned char* to, unsigned long long count) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    to[i] = (hash_of(i) & 0x9fu) | 0x20u;
  }
}

__device__ float from_e4m3(unsigned byte) {
  const unsigned exponent = byte >> 3 & 15, mantissa = byte & 7;
  const float size = exponent == 0 ? mantissa / 512.0f
                                   : ldexpf(1.0f + mantissa / 8.0f, static_cast<int>(exponent) - 7);
  return byte >> 7 ? -size : size;
}

// The nearest e4m3 of a number below 448, of two the even one.
__device__ float to_e4m3(float value) {
  int exponent;
  frexpf(value, &exponent);
  const float unit = ldexpf(1.0f, max(exponent - 4, -9));
  return rintf(value / unit) * unit;
}

__device__ float rounded(float value) {
  return FP8 ? to_e4m3(value) : __bfloat162float(__float2bfloat16(value));
}

__device__ float weight_at(const void* weights, unsigned long long i) {
  return FP8 ? from_e4m3(static_cast<const unsigned char*>(weights)[i])
             : __bfloat162float(static_cast<const __nv_bfloat16*>(weights)[i]);
}

// 1 / rms(x) of each row, which goes round and round a row of `stride` elements: a warp a block.
extern "C" __global__ void row_scales(const __nv_bfloat16* x, float* scales, unsigned stride,
                                      unsigned columns) {
  x += static_cast<unsigned long long>(blockIdx.x) * stride;
  float squares = 0;
  for (unsigned i = threadIdx.x; i < columns; i += kWarp) {
    const float value = __bfloat162float(x[i % stride]);
    squares += value * value;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(kFull, squares, offset);
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = 1.0f / sqrtf(squares / columns + 1e-5f);
}

// Compares out[b][r] with scale * (norm(x)[b] · weights[r]), a row of weights a warp: by the
// difference, as a part of 1 + |what is wanted|. wrong[0] counts where that is above `tolerance`;
// wrong[1] is the greatest, as the bits of a float.
extern "C" __global__ void compare(const __nv_bfloat16* x, const __nv_bfloat16* norm,
                                   const float* scales, const void* weights,
                                   const __nv_bfloat16* out, unsigned batch, unsigned stride,
                                   unsigned columns, unsigned rows, float scale, float tolerance,
                                   unsigned* wrong) {
  constexpr unsigned kTogether = 8;
  const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  if (row >= rows) return;
  for (unsigned first = 0; first < batch; first += kTogether) {
    float sums[kTogether] = {};
    for (unsigned i = lane; i < columns; i += kWarp) {
      const float weight = weight_at(weights, static_cast<unsigned long long>(row) * columns + i);
      const float factor = __bfloat162float(norm[i]);
      for (unsigned b = 0; b < kTogether; ++b) {
        const float value =
            __bfloat162float(x[static_cast<unsigned long long>(first + b) * stride + i % stride]);
        sums[b] += weight * rounded(value * scales[first + b] * factor);
      }
    }
    for (unsigned b = 0; b < kTogether; ++b) {
      for (int offset = 16; offset > 0; offset /= 2) {
        sums[b] += __shfl_xor_sync(kFull, sums[b], offset);
      }
      const float want = scale * sums[b];
      const unsigned at = (first + b) * rows + row;
      const float difference = fabsf(__bfloat162float(out[at]) - want) / (1 + fabsf(want));
      if (lane != 0) continue;
      if (!(difference <= tolerance)) atomicAdd(wrong, 1);
      atomicMax(wrong + 1, __float_as_uint(difference));
    }
  }
}
