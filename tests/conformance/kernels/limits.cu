extern "C" __global__ void mark(int* out) {
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(out, 1);
}

extern "C" __global__ void __launch_bounds__(128) small_block(int* out) { atomicAdd(out, 1); }

template <int N>
__global__ void __launch_bounds__(N) bounded(int* out) {
  atomicAdd(out, 1);
}
