// The kernels of the golden tests. They are kept as PTX, so that no compiler's version shows in the
// results: nvcc -ptx -arch=sm_90 -lineinfo kernels.cu, with the folder cut from the .file line.
extern "C" __global__ void scale(const float* __restrict__ x, float* __restrict__ y, float a,
                                 int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}

extern "C" __global__ void __launch_bounds__(64)
    reverse(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) y[i] = tile[63 - threadIdx.x];
}

__device__ float table[8];
__constant__ int limit = 3;
