extern "C" __global__ void add(int* values, int amount, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += amount;
}

// Keeps the device busy, then adds: `turns` is what decides how long.
extern "C" __global__ void slow_add(int* values, int amount, unsigned n, unsigned turns) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i;
  for (unsigned turn = 0; turn < turns; ++turn) state = state * 1664525u + 1013904223u;
  // Never true, but it is unknown before the loop has run.
  if (state == 0 && turns == 0xffffffffu) amount = 0;
  if (i < n) values[i] += amount;
}

extern "C" __global__ void multiply(int* values, int factor, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= factor;
}
