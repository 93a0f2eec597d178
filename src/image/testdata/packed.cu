// For fatbins: a kernel whose PTX is long enough to be worth packing.
extern "C" __global__ void __launch_bounds__(128) packed(float* out, const float* in, int n) {
  __shared__ float tile[128];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    tile[threadIdx.x] = in[i];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += tile[(threadIdx.x + k) & 127] * in[i + k];
    __syncthreads();
    out[i] = sum;
  }
}
