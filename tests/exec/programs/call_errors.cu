// Calls of the runtime that return errors, each from a function of the program.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>

__global__ void nothing() {}

__attribute__((noinline)) void allocate_too_much() {
  void* memory = nullptr;
  for (int k = 0; k < 3; ++k) cudaMalloc(&memory, size_t{1} << 60);
}

static __attribute__((noinline)) void launch_too_wide() { nothing<<<1, 4096>>>(); }

// Copies go through functions of the runtime's own.
static __attribute__((noinline)) void copy_nowhere(int* from) {
  cudaMemcpyAsync(nullptr, from, 4, cudaMemcpyDeviceToHost, cudaStreamPerThread);
}

// Answers: the stream still works, and the error of an earlier call.
static __attribute__((noinline)) bool asks() {
  std::atomic<bool> goes_on = false;
  cudaLaunchHostFunc(
      cudaStreamPerThread,
      [](void* flag) {
        while (!*static_cast<std::atomic<bool>*>(flag)) continue;
      },
      &goes_on);
  const bool waits = cudaStreamQuery(cudaStreamPerThread) == cudaErrorNotReady;
  goes_on = true;
  cudaStreamSynchronize(cudaStreamPerThread);
  return waits && cudaPeekAtLastError() != cudaSuccess && cudaGetLastError() != cudaSuccess;
}

int main() {
  int* memory = nullptr;
  if (cudaMalloc(&memory, 4) != cudaSuccess) return 1;
  allocate_too_much();
  launch_too_wide();
  copy_nowhere(memory);
  const bool right = asks();
  cudaFree(memory);
  std::puts(right ? "right" : "wrong");
}
