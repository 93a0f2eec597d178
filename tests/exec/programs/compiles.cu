// Is linked with NVRTC, and runs the machine code that it compiles.
#include <nvrtc.h>

#include <string>

#include "check.cuh"

const char kSource[] =
    "extern \"C\" __global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x * 3; }";

int main() {
  nvrtcProgram program;
  EXPECT(nvrtcCreateProgram(&program, kSource, "fill.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const char* options[] = {"-arch=sm_90"};
  EXPECT(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
  size_t bytes = 0;
  EXPECT(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS);
  std::string cubin(bytes, '\0');
  EXPECT(nvrtcGetCUBIN(program, &cubin[0]) == NVRTC_SUCCESS);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  cudaLibrary_t library;
  cudaKernel_t fill;
  CHECK(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&fill, library, "fill"));
  int* x;
  CHECK(cudaMallocManaged(&x, 32 * sizeof *x));
  void* arguments[] = {&x};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(fill), 1, 32, arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(x[31] == 93);
  std::puts("right");
}
