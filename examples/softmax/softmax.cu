// The softmax of each row, one warp a row. The warp's lanes agree on the row's maximum and sum by
// shuffles: no shared memory, no barrier.
constexpr int kWarp = 32;

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows,
                                   int columns) {
  const int lane = threadIdx.x % kWarp;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  if (row >= rows) return;  // whole warps leave: the masks below stay full
  const float* in = x + static_cast<size_t>(row) * columns;
  float* out = y + static_cast<size_t>(row) * columns;

  float maximum = -INFINITY;
  for (int i = lane; i < columns; i += kWarp) maximum = fmaxf(maximum, in[i]);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }

  // The exponentials are kept in `out` until the sum is known.
  float sum = 0.0f;
  for (int i = lane; i < columns; i += kWarp) {
    const float value = expf(in[i] - maximum);
    out[i] = value;
    sum += value;
  }
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  for (int i = lane; i < columns; i += kWarp) out[i] /= sum;
}
