// The kernels of the tests of this room, built by make_ptx.sh, so that no compiler is needed to run
// them.

#include <cuda_fp16.h>

#include <cstdint>

extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Adds `amount` to `count` elements, one block an element's worth of threads.
extern "C" __global__ void add(int* x, int amount, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] += amount;
}

// Writes down every scalar it is given, so that their conversion can be seen.
extern "C" __global__ void scalars(double* out, signed char i8, unsigned char u8, short i16,
                                   unsigned short u16, int i32, unsigned u32, long long i64,
                                   unsigned long long u64, float f32, double f64, __half f16) {
  out[0] = i8;
  out[1] = u8;
  out[2] = i16;
  out[3] = u16;
  out[4] = i32;
  out[5] = u32;
  out[6] = static_cast<double>(i64);
  out[7] = static_cast<double>(u64);
  out[8] = f32;
  out[9] = f64;
  out[10] = __half2float(f16);
}

struct Pair {
  int first;
  float second;
};

extern "C" __global__ void by_value(float* out, Pair pair) {
  out[0] = static_cast<float>(pair.first);
  out[1] = pair.second;
}

// Where the block and the grid end up, and how much dynamic shared memory there is room for.
extern "C" __global__ void __launch_bounds__(64) geometry(unsigned* out, unsigned words) {
  extern __shared__ unsigned scratch[];
  if (words > 0) scratch[words - 1] = words;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x == 0 && blockIdx.y == 0) {
    out[0] = gridDim.x;
    out[1] = gridDim.y;
    out[2] = blockDim.x;
    out[3] = blockDim.y;
    out[4] = words > 0 ? scratch[words - 1] : 0;
  }
}

__device__ unsigned calls;

extern "C" __global__ void count_calls(unsigned* out) { *out = ++calls; }

// Turns for as long as anyone will wait. It counts too: one that only polls would never end, which
// the simulated GPU finds by itself, in as little as a second.
extern "C" __global__ void spin(const volatile int* flag) {
  int turns = 0;
  while (*flag != --turns) {
  }
}

extern "C" __global__ void out_of_bounds(float* x, int index) { x[index] = 1.0f; }

extern "C" __global__ void copy_bytes(unsigned char* to, const unsigned char* from, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
