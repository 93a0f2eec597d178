// y = x / rms(x), with a wait and a trigger of its own.
extern "C" __global__ void rmsnorm(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float sums[256];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += x[i] * x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const float scale = rsqrtf(sums[0] / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] * scale;
  asm volatile("griddepcontrol.launch_dependents;");
}

extern "C" __global__ void late(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < n) y[i] += 1;
}
