// Memory that kernels allocate. The first argument chooses what is wrong; without one nothing is.
#include <cstdio>
#include <cstring>
#include <new>

struct Node {
  int value;
  Node* next;
};

struct Shape {
  __device__ explicit Shape(int s) : side(s) {}
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const { return side * side; }
  int side;
};
struct Box : Shape {
  __device__ explicit Box(int s) : Shape(s) {}
  __device__ int area() const override { return 6 * side * side; }
};

// Each thread makes a list of its own, which the next kernel takes apart.
__global__ void build(Node** lists, int length) {
  Node* head = nullptr;
  for (int k = 0; k < length; ++k) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr) break;
    *node = {k, head};
    head = node;
  }
  lists[blockIdx.x * blockDim.x + threadIdx.x] = head;
}

__global__ void take_apart(Node** lists, int* sums) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (Node* node = lists[thread]; node != nullptr;) {
    Node* next = node->next;
    sum += node->value;
    free(node);
    node = next;
  }
  sums[thread] = sum;
}

__global__ void shapes(int* areas) {
  Shape* shape = threadIdx.x % 2 == 0 ? new Shape(threadIdx.x) : new Box(threadIdx.x);
  areas[threadIdx.x] = shape->area();
  delete shape;
}

// A block shares what one of its threads allocates.
__global__ void shared_block(int* out) {
  __shared__ int* words;
  if (threadIdx.x == 0) words = new int[blockDim.x];
  __syncthreads();
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) delete[] words;
}

__global__ void aligned(int* wrong) {
  void* block = __nv_aligned_device_malloc(100, 512);
  if (reinterpret_cast<size_t>(block) % 512 != 0 || block == nullptr) *wrong = 1;
  free(block);
}

__global__ void too_much(void** block) { *block = malloc(size_t{1} << 20); }

__global__ void errs(int how, int* x) {
  int* block = static_cast<int*>(malloc(4 * sizeof(int)));
  block[0] = 1;
  if (how == 1) block[4] = 1;
  if (how == 2) free(block);
  if (how == 2) block[0] = 2;
  if (how == 3) free(block);
  if (how == 3) free(block);
  if (how == 4) free(x);
  if (how == 5) *x = block[1];
}

template <typename T>
T* zeros(int count) {
  T* pointer = nullptr;
  cudaMallocManaged(&pointer, count * sizeof(T));
  memset(pointer, 0, count * sizeof(T));
  return pointer;
}

int main(int argc, char** argv) {
  constexpr int kThreads = 96;
  int* sums = zeros<int>(kThreads);
  if (argc > 1) {
    errs<<<1, 1>>>(argv[1][0] - '0', sums);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  size_t limit = 0;
  if (cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 19) != cudaSuccess) return 2;
  if (cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize) != cudaSuccess || limit < 1 << 19) return 3;
  Node** lists = zeros<Node*>(kThreads);
  build<<<3, 32>>>(lists, 10);
  take_apart<<<3, 32>>>(lists, sums);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  for (int k = 0; k < kThreads; ++k) {
    if (sums[k] != 45) return 5;
  }
  shapes<<<1, 64>>>(sums);
  cudaDeviceSynchronize();
  for (int k = 0; k < 64; ++k) {
    if (sums[k] != (k % 2 == 0 ? k * k : 6 * k * k)) return 6;
  }
  shared_block<<<1, 64>>>(sums);
  cudaDeviceSynchronize();
  for (int k = 0; k < 64; ++k) {
    if (sums[k] != 63 - k) return 7;
  }
  int* word = zeros<int>(1);
  aligned<<<1, 32>>>(word);
  if (cudaDeviceSynchronize() != cudaSuccess || *word != 0) return 8;
  void** block = zeros<void*>(1);
  *block = word;
  too_much<<<1, 1>>>(block);
  if (cudaDeviceSynchronize() != cudaSuccess || *block != nullptr) return 9;
  // Kernels have allocated.
  if (cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) != cudaErrorInvalidValue) return 10;
  cudaGetLastError();
  // The host may not use the blocks.
  int host = 0;
  build<<<1, 1>>>(lists, 1);
  if (cudaDeviceSynchronize() != cudaSuccess) return 11;
  if (cudaMemcpy(&host, lists[0], sizeof host, cudaMemcpyDefault) != cudaErrorInvalidValue) return 12;
  if (cudaFree(lists[0]) != cudaErrorInvalidValue) return 13;
  std::puts("right");
  return 0;
}
