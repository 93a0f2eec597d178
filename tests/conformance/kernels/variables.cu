extern "C" {
__constant__ int weights[4] = {10, 20, 30, 40};
__constant__ float scale;
__device__ int counter = 5;
__device__ double table[3] = {0.5, -1.25, 1e100};
__device__ unsigned char letters[] = "baton";
__device__ int zeroed[100];
__device__ int* pointer = &counter;
__device__ const int* inner = zeroed + 3;

struct Node {
  int value;
  const Node* next;
};
__device__ Node last = {3, nullptr};
__device__ Node middle = {2, &last};
__device__ Node first = {1, &middle};

__global__ void read_all(double* out) {
  int n = 0;
  for (int i = 0; i < 4; ++i) out[n++] = weights[i];
  out[n++] = scale;
  out[n++] = counter;
  for (int i = 0; i < 3; ++i) out[n++] = table[i];
  for (int i = 0; i < 6; ++i) out[n++] = letters[i];
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += zeroed[i];
  out[n++] = sum;
  out[n++] = *pointer;
  out[n++] = inner == &zeroed[3];
  const Node* node = &first;
  while (node != nullptr) {
    out[n++] = node->value;
    node = node->next;
  }
}

__global__ void count() { atomicAdd(&counter, 1); }

__global__ void write_zeroed(int value) { zeroed[threadIdx.x] = value + static_cast<int>(threadIdx.x); }

// A constant table indexed differently by every lane.
__global__ void gather(int* out) { out[threadIdx.x] = weights[threadIdx.x * 7 % 4]; }

__global__ void addresses(unsigned long long* out) {
  out[0] = reinterpret_cast<unsigned long long>(&counter);
  out[1] = reinterpret_cast<unsigned long long>(zeroed);
}
}
