// A lock and a counter in memory that the host shares order blocks, as those in the device's do.
#include "check.cuh"

__global__ void count(int* lock, int* total) {
  if (threadIdx.x != 0) return;
  int was;
  do {
    asm volatile("atom.exch.acquire.gpu.b32 %0, [%1], 0;" : "=r"(was) : "l"(lock) : "memory");
  } while (was != 1);
  *total += 1;
  asm volatile("st.release.gpu.b32 [%0], 1;" ::"l"(lock) : "memory");
}

__global__ void meet(int* left, int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int n = gridDim.x * blockDim.x;
  x[i] = i;
  int now;
  asm volatile("red.release.gpu.add.s32 [%0], -1;" ::"l"(left) : "memory");
  do {
    asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(now) : "l"(left) : "memory");
  } while (now != 0);
  y[i] = x[n - 1 - i];
}

int* shared_word(bool managed, int value) {
  int* word;
  if (managed) {
    CHECK(cudaMallocManaged(&word, sizeof *word));
  } else {
    CHECK(cudaMallocHost(&word, sizeof *word));
  }
  *word = value;
  return word;
}

int main() {
  int *total, *x, *y;
  CHECK(cudaMallocManaged(&total, sizeof *total));
  CHECK(cudaMalloc(&x, 64 * sizeof *x));
  CHECK(cudaMallocManaged(&y, 64 * sizeof *y));
  for (const bool managed : {false, true}) {
    *total = 0;
    count<<<4, 32>>>(shared_word(managed, 1), total);
    meet<<<4, 16>>>(shared_word(managed, 64), x, y);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*total == 4);
    for (int i = 0; i < 64; ++i) EXPECT(y[i] == 63 - i);
  }
  std::puts("right");
}
