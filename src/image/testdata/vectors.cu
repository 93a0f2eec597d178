// Kernels whose facts are known, one for each thing that a cubin says. make_images.sh compiles them.
#include <cstdio>

struct P3 {
  char a;
  int b;
  double c;
};
extern "C" __global__ void params(char a, int b, double* c, P3 d, char e) {
  if (c) *c = a + b + d.b + e;
}

struct alignas(64) Aligned {
  int x[32];
};
extern "C" __global__ void aligned(const __grid_constant__ Aligned p, int* o) {
  o[threadIdx.x] = p.x[threadIdx.x & 31];
}

extern "C" __global__ void none() {}

extern "C" __global__ void __launch_bounds__(256, 3) bounds(int* o) { o[threadIdx.x] = 1; }

extern "C" __global__ void __maxnreg__(40) capped(int* o) { o[threadIdx.x] = 1; }

extern "C" __global__ void shared(int* o) {
  __shared__ int s[100];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[99 - threadIdx.x];
}

extern "C" __global__ void dynamic(int* o) {
  extern __shared__ int s[];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[99 - threadIdx.x];
}

struct B1088 {
  int x[1088];
};
struct B1100 {
  int x[1100];
};
extern "C" __global__ void small_block(B1088 b) { if (b.x[5] == 7) __trap(); }
extern "C" __global__ void large_block(B1100 b) { if (b.x[5] == 7) __trap(); }

extern "C" __global__ void prints(int* o) { printf("hi %d\n", o[0]); }

extern "C" __global__ void frame(int* o, int n) {
  int local[32];
  for (int i = 0; i < 32; ++i) local[i] = i;
  for (int i = 0; i < n; ++i) local[o[i] & 31] += local[o[i + 1] & 31];
  o[threadIdx.x] = local[o[n] & 31];
}

static __global__ void internal(int* o) { o[0] = 3; }
__device__ void (*keep_internal)(int*) = internal;

template <typename T>
__global__ void scale(T* out, const T* __restrict__ in, float factor, unsigned long n) {
  for (unsigned long i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i] * factor;
}
template __global__ void scale<float>(float*, const float*, float, unsigned long);

__constant__ int ctab[5];
__device__ float gdat[7];
__device__ int ginit = 42;
extern "C" __global__ void uses(int* o) {
  o[0] = ctab[threadIdx.x] + int(gdat[threadIdx.x]) + ginit;
  gdat[threadIdx.x] = 1;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __launch_bounds__(128, 2, 8) ranked(int* o) { o[threadIdx.x] = 1; }
extern "C" __global__ void __cluster_dims__(4, 2, 1) clustered(int* o) { o[threadIdx.x] = 1; }
extern "C" __global__ void __block_size__((128, 2, 1)) sized(int* o) { o[threadIdx.x] = 1; }

extern "C" __global__ void waits(int* o) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  o[threadIdx.x] = 1;
}

extern "C" __global__ void triggers(int* o) {
  asm volatile("griddepcontrol.launch_dependents;");
  int x = o[threadIdx.x];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  o[threadIdx.x] = x + 1;
}

__noinline__ __device__ void waiter(int* o) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  o[0] = 1;
}
extern "C" __global__ void calls_waiter(int* o) {
  waiter(o);
  o[1] = 2;
}

extern "C" __global__ void calls_pointer(int* o, void (*f)(int*)) {
  f(o);
  o[1] = 2;
}
#endif
