// A transposition through shared memory, with rows of WIDTH elements.
extern "C" __global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[32][WIDTH];
  const int column = blockIdx.x * 32, row = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += blockDim.y)
    tile[i][threadIdx.x] = x[(row + i) * n + column + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += blockDim.y)
    y[(column + i) * n + row + threadIdx.x] = tile[threadIdx.x][i];
}
