// The feed-forward half of one layer of a language model while it decodes one token: four kernels,
// each of which needs what the one before it wrote. Weights are half precision, sums are float.
#include <cuda_fp16.h>

constexpr int kWarp = 32;

__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// y = x / rms(x) * weight, over n elements, by one block of whole warps.
template <typename Weight>
__global__ void rmsnorm(const float* __restrict__ x, const Weight* __restrict__ weight,
                        float* __restrict__ y, int n, float epsilon) {
  __shared__ float partial[kWarp];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;

  float squares = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += x[i] * x[i];
  squares = warp_sum(squares);
  if (lane == 0) partial[warp] = squares;
  __syncthreads();

  const int warps = blockDim.x / kWarp;
  const float total = warp_sum(lane < warps ? partial[lane] : 0.0f);
  const float scale = rsqrtf(total / n + epsilon);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    y[i] = x[i] * scale * static_cast<float>(weight[i]);
  }
}

// y[row] = scale * dot(w[row], x): one warp a row. Rows of a multiple of eight elements start
// 16-byte aligned, so each lane reads eight weights at once.
__global__ void matvec(const __half* __restrict__ w, const float* __restrict__ x,
                       float* __restrict__ y, int rows, int columns, float scale) {
  const int lane = threadIdx.x % kWarp;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  if (row >= rows) return;
  const __half* weights = w + static_cast<size_t>(row) * columns;

  float sum = 0.0f;
  if (columns % 8 == 0) {
    for (int column = lane * 8; column < columns; column += kWarp * 8) {
      const uint4 packed = *reinterpret_cast<const uint4*>(weights + column);
      const float4 low = *reinterpret_cast<const float4*>(x + column);
      const float4 high = *reinterpret_cast<const float4*>(x + column + 4);
      const __half2* pairs = reinterpret_cast<const __half2*>(&packed);
      const float2 a = __half22float2(pairs[0]);
      const float2 b = __half22float2(pairs[1]);
      const float2 c = __half22float2(pairs[2]);
      const float2 d = __half22float2(pairs[3]);
      sum += a.x * low.x + a.y * low.y + b.x * low.z + b.y * low.w;
      sum += c.x * high.x + c.y * high.y + d.x * high.z + d.y * high.w;
    }
  } else {
    for (int column = lane; column < columns; column += kWarp) {
      sum += __half2float(weights[column]) * x[column];
    }
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = scale * sum;
}

// y = x * sigmoid(x).
__global__ void silu(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1.0f + __expf(-x[i]));
}
