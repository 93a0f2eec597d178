// Kernels with non-coherent loads: of data that no kernel writes, and of data that one writes.

// In assembler: a compiler may move __ldg before the wait.
__device__ float load_noncoherently(const float* place) {
  float v;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(place) : "memory");
  return v;
}
KERNEL loads_row_noncoherently(float* y, const float* x) {
  INDEX;
  WAIT;
  y[i] = load_noncoherently(x + i);
}
KERNEL loads_after_plain_load(float* y, const float* x) {
  INDEX;
  WAIT;
  y[i] = x[i];
  y[i] += load_noncoherently(x + i);
}
KERNEL loads_scale_noncoherently(float* y, const float* x) {
  INDEX;
  WAIT;
  y[i] = 1;
  if (t == 0) y[i] = load_noncoherently(x + 3);
}
KERNEL loads_weight_noncoherently(float* y, const float* x, const float* w) {
  INDEX;
  const float scale = load_noncoherently(w + i);
  WAIT;
  y[i] = x[i] * scale * load_noncoherently(w + (i + 64) % 256);
}
KERNEL loads_noncoherently_behind_flag(float* y, const float* x, float* f) {
  INDEX;
  if (t == 0) {
    while (!acquire_for_gpu(flag_in(f, blockIdx.x))) {
    }
  }
  __syncthreads();
  y[i] = load_noncoherently(x + i);
  WAIT;
}
__constant__ float constants[256];
KERNEL loads_constants(float* y, const float* x) {
  INDEX;
  WAIT;
  y[i] = x[i] + constants[i];
}
KERNEL loads_own_noncoherently(float* y, const float* x) {
  INDEX;
  y[i] = x[i];
  __syncthreads();
  const float v = load_noncoherently(y + i - t + (t + 64) % 128);
  __syncthreads();
  y[i] = v + 1;
}
