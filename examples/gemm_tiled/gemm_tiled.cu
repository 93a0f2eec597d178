// C = A B, row-major, by tiles: a block computes 64 x 64 elements of C and walks over K sixteen at
// a time, with both tiles in shared memory; each of its 16 x 16 threads keeps 4 x 4 sums in
// registers. What lies outside the matrices is read as zero and not written.
constexpr int kTile = 64;   // rows and columns of C a block
constexpr int kDepth = 16;  // of K a round
constexpr int kEach = 4;    // rows and columns of C a thread
constexpr int kSide = kTile / kEach;
constexpr int kThreads = kSide * kSide;

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
         int n, int k) {
  // A is kept transposed, so that a thread's four rows lie side by side; one more column keeps the
  // transposing stores off the same bank.
  __shared__ float tile_a[kDepth][kTile + 4];
  __shared__ float tile_b[kDepth][kTile];

  const int thread = threadIdx.y * kSide + threadIdx.x;
  const int first_row = blockIdx.y * kTile;
  const int first_column = blockIdx.x * kTile;
  float sums[kEach][kEach] = {};

  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
      const int row = i / kDepth, depth = i % kDepth;
      const bool inside = first_row + row < m && start + depth < k;
      tile_a[depth][row] =
          inside ? a[static_cast<size_t>(first_row + row) * k + start + depth] : 0.0f;
    }
    for (int i = thread; i < kDepth * kTile; i += kThreads) {
      const int depth = i / kTile, column = i % kTile;
      const bool inside = start + depth < k && first_column + column < n;
      tile_b[depth][column] =
          inside ? b[static_cast<size_t>(start + depth) * n + first_column + column] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int depth = 0; depth < kDepth; ++depth) {
      float column[kEach], row[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        column[i] = tile_a[depth][threadIdx.y * kEach + i];
        row[i] = tile_b[depth][threadIdx.x * kEach + i];
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] += column[i] * row[j];
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = first_row + threadIdx.y * kEach + i;
      const int column = first_column + threadIdx.x * kEach + j;
      if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sums[i][j];
    }
  }
}
