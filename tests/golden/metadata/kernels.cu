struct Map { alignas(64) unsigned char bytes[128]; };
extern "C" __global__ void rows_kernel(float* out, const float* in, int rows, float scale) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < rows) { tile[threadIdx.x] = in[i]; out[i] = tile[threadIdx.x] * scale; }
}
extern "C" __global__ void map_kernel(unsigned char* out, const __grid_constant__ Map map) {
  out[threadIdx.x] = map.bytes[threadIdx.x & 127];
}
extern "C" __global__ void whole_kernel(long long* out, long long n) {
  out[blockIdx.y * gridDim.x + blockIdx.x] = n + blockIdx.y * gridDim.x + blockIdx.x;
}
