// Shared, constant, global and managed variables with initialisers of all kinds.
// targets: sm_80 sm_90
struct Node {
  int value;
  Node* next;
  float weights[3];
  const char* name;
};
__device__ int numbers[4] = {1, -2, 3};
__device__ Node last = {5, nullptr, {1.5f, -2.5f, 3e30f}, "last"};
__device__ Node first = {6, &last, {0.5f}, "first\n\"quoted\"\\"};
__constant__ double table[2][3] = {{1.0, 2.0, 3.0}, {4.0, 5.0}};
__constant__ Node frozen[2] = {{1, &first, {}, "a"}, {2, nullptr, {}, nullptr}};
__device__ const int* inside = &numbers[2];
__device__ char text[] = "bytes: \x01\xff\t";
__device__ long long big = 0x7fffffffffffffffLL;
__device__ struct __attribute__((packed)) {
  char c;
  const int* p;
} packed = {3, &numbers[1]};
__device__ __managed__ float managed_value = 2.5f;
__device__ uchar4 vec = {1, 2, 3, 4};
__device__ volatile unsigned flag;
static __device__ double hidden[16];
extern "C" __global__ void touch(int i, float* out, int stride) {
  __shared__ float tile[16][17];
  extern __shared__ double dynamic[];
  __shared__ Node* shared_node;
  tile[threadIdx.y][threadIdx.x] = out[threadIdx.y * stride + threadIdx.x];
  dynamic[threadIdx.x] = table[i & 1][i % 3] + hidden[i];
  if (threadIdx.x == 0) shared_node = first.next;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y] + dynamic[i] + shared_node->weights[i] + *inside;
  managed_value += frozen[i & 1].value + text[i] + *packed.p + vec.z;
  big += numbers[i];
  flag = 1;
  hidden[i] = out[i];
}
