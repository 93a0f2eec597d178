// The feed-forward half of a language model's layers while it decodes one token: RMSNorm, a matvec
// with gate and up projections together, SiLU, and a matvec back, which adds to the residual.
// Weights and what the matvecs read are bf16, sums and the residual are float.
//
//   PDL       0: no wait; 1: the wait comes first; 2: weights are fetched before the wait
//   TRIGGER   which kernels let the next one in at their top, not when they end: 1 rmsnorm, 2 matvec_put,
//             4 silu, 8 matvec_add, or a sum of these
//   STAGES    16-byte copies that each lane has in flight
#include <baton/device/pdl.cuh>
#include <cuda_bf16.h>

constexpr int kWarp = 32;
constexpr int kWarps = 16;  // of a block
constexpr int kStages = STAGES;

__device__ __forceinline__ void let_next_in(int kernel) {
  if (PDL != 0 && (TRIGGER & kernel) != 0) baton::device::pdl_trigger();
}
__device__ __forceinline__ void wait_if(int pdl) {
  if (PDL == pdl) baton::device::pdl_wait();
}

__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// Weights are read once: their lines in L2 may go first.
__device__ __forceinline__ unsigned long long once() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void copy_16(void* to, const void* from, unsigned long long policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(__cvta_generic_to_global(from)), "l"(policy)
               : "memory");
}

// The dot product of eight bf16 each.
__device__ __forceinline__ float dot(const uint4& a, const uint4& b, float sum) {
  const auto* x = reinterpret_cast<const __nv_bfloat162*>(&a);
  const auto* y = reinterpret_cast<const __nv_bfloat162*>(&b);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 p = __bfloat1622float2(x[i]);
    const float2 q = __bfloat1622float2(y[i]);
    sum = fmaf(p.x, q.x, sum);
    sum = fmaf(p.y, q.y, sum);
  }
  return sum;
}

// y = x / rms(x) * weight, by one block; each thread has its part of both in registers. `n` is a
// multiple of four, and at most so many for each thread.
constexpr int kNormVectors = 4;

__device__ __forceinline__ float square(const float4& v, float sum) {
  return fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, sum))));
}

extern "C" __global__ void rmsnorm(const float4* x, const uint2* weight, uint2* y, unsigned n) {
  __shared__ float partial[kWarp];
  let_next_in(1);
  wait_if(1);
  float4 values[kNormVectors] = {};
  uint2 weights[kNormVectors] = {};
  const auto at = [](int k) { return threadIdx.x + k * blockDim.x; };
#pragma unroll
  for (int k = 0; k < kNormVectors; ++k) {
    if (at(k) < n / 4) weights[k] = weight[at(k)];
  }
  wait_if(2);
#pragma unroll
  for (int k = 0; k < kNormVectors; ++k) {
    if (at(k) < n / 4) values[k] = x[at(k)];
  }
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kNormVectors; ++k) squares = square(values[k], squares);
  squares = warp_sum(squares);
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = squares;
  __syncthreads();
  const unsigned lane = threadIdx.x % kWarp;
  const float total = warp_sum(lane < blockDim.x / kWarp ? partial[lane] : 0.0f);
  const float scale = rsqrtf(total / static_cast<float>(n) + 1e-5f);
#pragma unroll
  for (int k = 0; k < kNormVectors; ++k) {
    if (at(k) >= n / 4) continue;
    const auto* w = reinterpret_cast<const __nv_bfloat162*>(&weights[k]);
    uint2 out;
    auto* rounded = reinterpret_cast<__nv_bfloat162*>(&out);
    const float2 low = __bfloat1622float2(w[0]), high = __bfloat1622float2(w[1]);
    const float4& v = values[k];
    rounded[0] = __floats2bfloat162_rn(v.x * scale * low.x, v.y * scale * low.y);
    rounded[1] = __floats2bfloat162_rn(v.z * scale * high.x, v.w * scale * high.y);
    y[at(k)] = out;
  }
}

// y[i] = silu(x[i]) * x[i + n].
extern "C" __global__ void silu(const float* x, __nv_bfloat16* y, unsigned n) {
  let_next_in(4);
  wait_if(1);
  wait_if(2);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(x[i] / (1.0f + __expf(-x[i])) * x[i + n]);
}

// Rows' dot products with x, added to y or put there. A warp has rows that follow one another, and
// streams them through a ring of its own in shared memory: no barrier but the one for x.
// `columns` is a multiple of 256.
template <bool kAdd>
__device__ __forceinline__ void matvec(const __nv_bfloat16* w, const __nv_bfloat16* x, float* y,
                                       unsigned rows, unsigned columns, float scale) {
  extern __shared__ uint4 memory[];
  let_next_in(kAdd ? 8 : 2);
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  uint4* const ring = memory + warp * (kStages * kWarp) + lane;
  uint4* const vector = memory + kWarps * kStages * kWarp;

  // Neighbouring numbers are on different SMs, so that what is left over spreads.
  const unsigned long long number = warp * gridDim.x + blockIdx.x;
  const unsigned warps = gridDim.x * kWarps;
  unsigned row = static_cast<unsigned>(number * rows / warps);
  const unsigned last = static_cast<unsigned>((number + 1) * rows / warps);
  const unsigned row_steps = columns / (8 * kWarp);
  const unsigned steps = (last - row) * row_steps;
  const uint4* const from =
      reinterpret_cast<const uint4*>(w + static_cast<unsigned long long>(row) * columns) + lane;
  const unsigned long long policy = once();
  unsigned filled = 0;  // the place in the ring that the next copy goes to
  const auto fetch = [&](unsigned step) {
    if (step < steps) copy_16(ring + filled * kWarp, from + step * kWarp, policy);
    asm volatile("cp.async.commit_group;" ::: "memory");
    filled = filled + 1 == kStages ? 0 : filled + 1;
  };

  wait_if(1);
  for (unsigned step = 0; step < kStages; ++step) fetch(step);
  wait_if(2);
  const uint4* const given = reinterpret_cast<const uint4*>(x);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < columns / 8; i += blockDim.x) vector[i] = given[i];
  // What a row's sum is added to is asked for when the row begins.
  float before = kAdd && lane == 0 && steps != 0 ? y[row] : 0;
  __syncthreads();

  float sum = 0;
  unsigned in_row = 0;
  unsigned place = 0;  // of the step's copy in the ring
  for (unsigned step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
    sum = dot(ring[place * kWarp], vector[in_row * kWarp + lane], sum);
    place = place + 1 == kStages ? 0 : place + 1;
    fetch(step + kStages);
    if (++in_row < row_steps) continue;
    sum = warp_sum(sum);
    if (lane == 0) y[row] = kAdd ? before + scale * sum : scale * sum;
    ++row;
    in_row = 0;
    sum = 0;
    if (kAdd && lane == 0 && row < last) before = y[row];
  }
}

extern "C" __global__ void __launch_bounds__(512)
    matvec_put(const __nv_bfloat16* w, const __nv_bfloat16* x, float* y, unsigned rows,
               unsigned columns, float scale) {
  matvec<false>(w, x, y, rows, columns, scale);
}
extern "C" __global__ void __launch_bounds__(512)
    matvec_add(const __nv_bfloat16* w, const __nv_bfloat16* x, float* y, unsigned rows,
               unsigned columns, float scale) {
  matvec<true>(w, x, y, rows, columns, scale);
}

// Element i of a weight: between -0.5 and 0.5, known to the host too.
extern "C" __global__ void make_weights(__nv_bfloat16* w, unsigned long long count) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const unsigned hash = static_cast<unsigned>(i * 0x9E3779B97F4A7C15ull >> 56);
    w[i] = __float2bfloat16((static_cast<float>(hash) - 127.5f) / 256.0f);
  }
}
