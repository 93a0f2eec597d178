// Much of the CUDA runtime, in a program without an error.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "check.cuh"

constexpr int kCount = 1000;

__constant__ int factor = 3;
__device__ int total;

__global__ void scale(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void add_up(const int* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, x[i]);
}

__global__ void with_shared(int* out) {
  extern __shared__ int words[];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

void launch_scale(int* x, cudaStream_t stream) {
  scale<<<(kCount + 127) / 128, 128, 0, stream>>>(x, kCount);
  CHECK(cudaGetLastError());
}

std::vector<int> counted() {
  std::vector<int> words(kCount);
  for (int i = 0; i < kCount; ++i) words[i] = i;
  return words;
}

void variables() {
  const int five = 5, zero = 0;
  CHECK(cudaMemcpyToSymbol(factor, &five, sizeof five));
  CHECK(cudaMemcpyToSymbol(total, &zero, sizeof zero));
  int* x;
  CHECK(cudaMalloc(&x, kCount * sizeof(int)));
  CHECK(cudaMemcpy(x, counted().data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  launch_scale(x, nullptr);
  add_up<<<1, 64>>>(x, kCount);
  int sum = 0;
  CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  EXPECT(sum == 5 * kCount * (kCount - 1) / 2);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, total));
  CHECK(cudaGetSymbolSize(&bytes, total));
  EXPECT(address != nullptr && bytes == sizeof(int));
  EXPECT(cudaMemcpyToSymbol(total, &zero, 100) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  CHECK(cudaFree(x));
}

// That a stream still works is not an error that later checks find.
void queries() {
  std::atomic<bool> may_end{false};
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  const auto wait = [](void* of) {
    while (!static_cast<std::atomic<bool>*>(of)->load()) {}
  };
  CHECK(cudaLaunchHostFunc(stream, wait, &may_end));
  EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
  EXPECT(cudaPeekAtLastError() == cudaSuccess);
  may_end = true;
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamQuery(stream));
  CHECK(cudaStreamDestroy(stream));
}

// A fill of memory that the host can read has ended when the call returns.
void fills() {
  unsigned char* bytes;
  CHECK(cudaMallocHost(&bytes, 256));
  const auto pause = [](void*) {
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 20;
    while (std::clock() < end) {}
  };
  std::memset(bytes, 1, 256);
  CHECK(cudaLaunchHostFunc(nullptr, pause, nullptr));
  CHECK(cudaMemset(bytes, 7, 64));
  EXPECT(bytes[0] == 7 && bytes[63] == 7 && bytes[64] == 1);
  CHECK(cudaLaunchHostFunc(nullptr, pause, nullptr));
  CHECK(cudaMemset2D(bytes, 64, 8, 16, 4));
  EXPECT(bytes[0] == 8 && bytes[16] == 7 && bytes[192 + 15] == 8 && bytes[192 + 16] == 1);
  CHECK(cudaLaunchHostFunc(nullptr, pause, nullptr));
  CHECK(cudaMemset3D(make_cudaPitchedPtr(bytes, 16, 16, 4), 9, make_cudaExtent(16, 4, 4)));
  EXPECT(bytes[0] == 9 && bytes[255] == 9);
  CHECK(cudaFreeHost(bytes));
}

void streams_and_graphs() {
  int* x;
  CHECK(cudaMallocManaged(&x, kCount * sizeof(int)));
  const std::vector<int> words = counted();
  std::memcpy(x, words.data(), kCount * sizeof(int));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(start, stream));
  launch_scale(x, stream);
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaEventSynchronize(end));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0 && x[10] == 50);

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch_scale(x, stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(x[10] == 50 * 25);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  int called = 0;
  CHECK(cudaLaunchHostFunc(stream, [](void* data) { *static_cast<int*>(data) = 1; }, &called));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(called == 1);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
}

void rows() {
  constexpr int kWidth = 20, kHeight = 3;
  char host[kHeight][kWidth], back[kHeight][kWidth];
  std::memset(host, 1, sizeof host);
  host[2][19] = 9;
  void* device;
  size_t pitch;
  CHECK(cudaMallocPitch(&device, &pitch, kWidth, kHeight));
  CHECK(cudaMemset2D(device, pitch, 0, kWidth, kHeight));
  CHECK(cudaMemcpy2D(device, pitch, host, kWidth, kWidth, kHeight, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(back, kWidth, device, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(host, back, sizeof host) == 0);
  EXPECT(cudaMemcpy2D(back, 2, device, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost) ==
         cudaErrorInvalidPitchValue);
  cudaGetLastError();
  CHECK(cudaFree(device));
}

void facts() {
  int count = 0, device = -1;
  CHECK(cudaGetDeviceCount(&count));
  CHECK(cudaGetDevice(&device));
  EXPECT(count == 1 && device == 0);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaGetLastError();
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.major == 9 && properties.warpSize == 32 && properties.maxThreadsDim[2] == 64);
  EXPECT(std::strncmp(properties.name, "Simulated", 9) == 0);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, scale));
  EXPECT(attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
  CHECK(cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  int* out;
  CHECK(cudaMalloc(&out, 64 * sizeof(int)));
  with_shared<<<1, 64, 90 << 10>>>(out);
  CHECK(cudaDeviceSynchronize());
  int first = 0;
  CHECK(cudaMemcpy(&first, out, sizeof first, cudaMemcpyDefault));
  EXPECT(first == 63);
  int blocks = 0, grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 128, 0));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale));
  EXPECT(blocks > 0 && grid > 0 && block >= 128);
  scale<<<1, 2000>>>(out, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  cudaPointerAttributes where;
  CHECK(cudaPointerGetAttributes(&where, out + 1));
  EXPECT(where.type == cudaMemoryTypeDevice && where.devicePointer == out + 1);
  CHECK(cudaPointerGetAttributes(&where, &where));
  EXPECT(where.type == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(out));
}

// Between devices, of which there is one.
void peers() {
  int *from, *to;
  CHECK(cudaMalloc(&from, 64));
  CHECK(cudaMalloc(&to, 64));
  CHECK(cudaMemset(from, 1, 64));
  CHECK(cudaMemset(to, 0, 64));
  cudaMemcpy3DPeerParms params{};
  params.srcPtr = make_cudaPitchedPtr(from, 16, 16, 4);
  params.dstPtr = make_cudaPitchedPtr(to, 16, 16, 4);
  params.extent = make_cudaExtent(8, 4, 1);
  CHECK(cudaMemcpy3DPeer(&params));
  CHECK(cudaMemcpy3DPeerAsync(&params, nullptr));
  int values[4];
  CHECK(cudaMemcpy(values, to, sizeof values, cudaMemcpyDeviceToHost));
  EXPECT(values[0] == 0x01010101 && values[1] == 0x01010101 && values[2] == 0);
  EXPECT(cudaMemcpy3DPeer(nullptr) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaMemcpyPeer(to, 0, from, 0, 64));
  CHECK(cudaMemcpyPeerAsync(from, 0, to, 0, 64, nullptr));
  EXPECT(cudaMemcpyPeer(to, 1, from, 0, 64) == cudaErrorInvalidDevice);
  EXPECT(cudaMemcpyPeerAsync(to, 0, from, -1, 64, nullptr) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
}

int main() {
  variables();
  queries();
  fills();
  streams_and_graphs();
  rows();
  peers();
  facts();
  CHECK(cudaDeviceReset());
  variables();
  std::puts("right");
}
