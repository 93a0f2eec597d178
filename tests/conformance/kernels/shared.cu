extern __shared__ unsigned char dynamic_bytes[];

// Writes every byte of the dynamic shared memory and adds up what another thread wrote.
extern "C" __global__ void sum_dynamic(unsigned long long* out, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) {
    dynamic_bytes[i] = static_cast<unsigned char>(i * 3 + blockIdx.x);
  }
  __syncthreads();
  unsigned long long sum = 0;
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) sum += dynamic_bytes[bytes - 1 - i];
  atomicAdd(out + blockIdx.x, sum);
}

// The same beside 2 KiB of static shared memory.
extern "C" __global__ void sum_both(unsigned long long* out, unsigned bytes) {
  __shared__ unsigned words[512];
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) words[i] = i;
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) dynamic_bytes[i] = 0xff;
  __syncthreads();
  unsigned long long sum = 0;
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) sum += words[511 - i];
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) sum += dynamic_bytes[i];
  atomicAdd(out + blockIdx.x, sum);
}

// Transposes a 32 x 32 tile: two-dimensional static shared memory with padding.
extern "C" __global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8) out[(y + row) * n + x] = tile[threadIdx.x][threadIdx.y + row];
}

// Several arrays carved out of one dynamic allocation, of different widths.
extern "C" __global__ void carve(double* out, unsigned n) {
  double* const doubles = reinterpret_cast<double*>(dynamic_bytes);
  float* const floats = reinterpret_cast<float*>(doubles + n);
  short* const shorts = reinterpret_cast<short*>(floats + n);
  const unsigned i = threadIdx.x;
  doubles[i] = i * 0.5;
  floats[i] = i * 2.0f;
  shorts[i] = static_cast<short>(-static_cast<int>(i));
  __syncthreads();
  const unsigned j = n - 1 - i;
  out[i] = doubles[j] + floats[j] + shorts[j];
}

// Shared memory through generic pointers, chosen at run time.
extern "C" __global__ void generic(int* out, int* global, int choose) {
  __shared__ int shared[64];
  const unsigned i = threadIdx.x;
  shared[i] = 1000 + static_cast<int>(i);
  __syncthreads();
  int* pointer = ((static_cast<int>(i) + choose) & 1) != 0 ? shared : global;
  pointer[63 - i] += 5;
  __syncthreads();
  out[i] = pointer[63 - i];
}
