// Variables that the host and kernels share.
#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

struct Record {
  int count;
  double value;
};

__managed__ int counter = 5;
__managed__ float table[64];
__device__ __managed__ Record record = {1, 2.5};

__global__ void work() {
  atomicAdd(&counter, 1);
  table[threadIdx.x] = threadIdx.x * 2.0f + record.count;
  if (threadIdx.x == 0) record.value *= 2;
}

int main() {
  EXPECT(counter == 5 && table[63] == 0);
  counter = 10;
  record.count = 3;
  work<<<1, 64>>>();
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(counter == 74 && table[10] == 23 && record.value == 5);
  int* address = nullptr;
  EXPECT(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), counter) == cudaSuccess);
  EXPECT(address == &counter);
  const int nine = 9;
  EXPECT(cudaMemcpyToSymbol(counter, &nine, sizeof nine) == cudaSuccess && counter == 9);
  cudaPointerAttributes facts;
  EXPECT(cudaPointerGetAttributes(&facts, table) == cudaSuccess);
  EXPECT(facts.type == cudaMemoryTypeManaged && facts.device == 0);
  EXPECT(cudaFree(&counter) == cudaErrorInvalidValue);
  std::puts("right");
}
