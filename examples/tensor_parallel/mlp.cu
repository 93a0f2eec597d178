// Matrix times vector, one warp a row: y[row] = dot(w[row], x), through SiLU where it is asked for.
constexpr int kWarp = 32;

__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

template <bool kActivate>
__global__ void matvec(const float* __restrict__ w, const float* __restrict__ x,
                       float* __restrict__ y, int rows, int columns) {
  const int lane = threadIdx.x % kWarp;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int column = lane; column < columns; column += kWarp) {
    sum += w[static_cast<size_t>(row) * columns + column] * x[column];
  }
  sum = warp_sum(sum);
  if (lane != 0) return;
  y[row] = kActivate ? sum / (1.0f + expf(-sum)) : sum;
}

template __global__ void matvec<true>(const float*, const float*, float*, int, int);
template __global__ void matvec<false>(const float*, const float*, float*, int, int);
