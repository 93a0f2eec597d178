// The kernels of sim_bench.cc. sim_bench.ptx is made from this file by
//   nvcc --ptx -arch=compute_90 -o sim_bench.ptx sim_bench.cu

extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// C = A * B for row-major square matrices whose size is a multiple of 64: a block of 16 x 16 threads
// computes 64 x 64 results in steps of 16, each thread 4 x 4 of them.
extern "C" __global__ void gemm(float* c, const float* a, const float* b, int n) {
  __shared__ float tile_a[16][64];
  __shared__ float tile_b[16][64];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int thread = ty * 16 + tx;
  const int row = blockIdx.y * 64;
  const int column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int at = e * 256 + thread;
      tile_a[at % 16][at / 16] = a[(row + at / 16) * n + k0 + at % 16];
      tile_b[at / 64][at % 64] = b[(k0 + at / 64) * n + column + at % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float left[4], right[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        left[e] = tile_a[k][ty * 4 + e];
        right[e] = tile_b[k][tx * 4 + e];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
  }
}

// One sum a block of 256 threads, by shuffles.
extern "C" __global__ void reduce(float* sums, const float* x, int n) {
  __shared__ float partial[8];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += partial[w];
    sums[blockIdx.x] = sum;
  }
}

// A loop in which odd and even lanes take different ways.
extern "C" __global__ void divergent(float* y, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = static_cast<float>(i);
  for (int k = 0; k < steps; ++k) {
    if ((i ^ k) & 1) {
      v = v * 1.0001f + 1.0f;
      y[i] = v;
    } else {
      v = v * 0.9999f - 1.0f;
      y[i] = v;
    }
  }
  y[i] = v;
}
