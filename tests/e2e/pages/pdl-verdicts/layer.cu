extern "C" __global__ void matvec(const float* w, const float* x, float* h, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += w[row * n + i] * x[i];
  h[row] = sum;
  asm volatile("griddepcontrol.launch_dependents;");
}

// A mistake: it reads before it waits.
extern "C" __global__ void scale(const float* h, float* y, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float early = h[i];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[i] = a * early;
}

// __restrict__ makes its loads non-coherent, which no wait orders.
extern "C" __global__ void gather(const float* __restrict__ y, float* __restrict__ z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  z[i] = y[i ^ 1];
}
