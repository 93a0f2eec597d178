// Small programs with one planted error in where a kernel accesses or whom it calls, beside right
// ones. A line of the error ends with the name of its case.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "planted.cuh"

namespace cg = cooperative_groups;

// --- Addresses ---
// Neighbours in a grid of numbers: the first block looks before it.
template <bool IsClamped>
__global__ void takes_neighbours(const int* in, int* out, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int before = IsClamped && k == 0 ? 0 : k - 1, after = k + 1 < n ? k + 1 : n - 1;
  out[k] = in[before] + in[after];  // looks_before_first
}
template <int RowBytes>
__global__ void fills_rows(char* rows, std::size_t pitch, int height) {
  for (int y = 0; y < height; ++y) {
    int* const row = reinterpret_cast<int*>(rows + y * (RowBytes != 0 ? RowBytes : pitch));
    row[threadIdx.x] = y;  // takes_width_for_bytes
  }
}
__global__ void casts_chars(const char* text, int* out, int shift) {
  out[threadIdx.x] =
      *reinterpret_cast<const int*>(text + 4 * threadIdx.x + shift);  // casts_odd_address
}
__global__ void multiplies_index(int* words, int row, long stride) {
  const int narrow = row * static_cast<int>(stride);
  words[threadIdx.x + narrow] = 1;  // overflows_index
}
__global__ void keeps_shared_address(int** kept, int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) *kept = s;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void uses_address(int* const* kept, int* out) {
  out[threadIdx.x] = (*kept)[threadIdx.x];  // uses_shared_of_other_grid
}
__global__ void follows_list(int* const* links, int* out) {
  out[threadIdx.x] = *links[threadIdx.x];  // follows_null, follows_host_pointer
}
struct Node {
  Node* next;
  int value;
};
__global__ void makes_list(Node** head, int n) {
  for (int k = 0; k < n; ++k) *head = new Node{*head, k};
}
template <bool ReadsFirst>
__global__ void drops_list(Node* head, int* sum) {
  while (head != nullptr) {
    Node* const next = head->next;
    *sum += head->value;
    delete head;
    head = ReadsFirst ? next : head->next;  // reads_deleted_node
  }
}

// --- Calls ---
struct Shape {
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int n) : side(n) {}
  __device__ int area() const override { return side * side; }
};
__global__ void makes_shape(Shape** shape) {
  *shape = new Square(5);
}
__global__ void calls_shape(Shape* const* shape, int* out) {
  out[threadIdx.x] = (*shape)->area();  // calls_unmade_object
}
__device__ __noinline__ int depth_of(int n, int* out) {
  volatile int kept[64];
  kept[n % 64] = n;
  if (n == 0) return *out;
  return depth_of(n - 1, out) + kept[n % 64];  // recurses_too_deep
}
__global__ void recurses(int* out, int n) {
  out[threadIdx.x] = depth_of(n, out);
}
using Operation = int (*)(int);
__device__ int twice(int n) {
  return 2 * n;
}
__device__ int square(int n) {
  return n * n;
}
__device__ Operation operations[4] = {twice, square};
__global__ void chooses(int* out, int n) {
  out[threadIdx.x] = operations[threadIdx.x % n](threadIdx.x);  // calls_empty_slot
}

// --- Warps ---
template <bool NamesAll>
__global__ void reduces_by_mask(int* out) {
  const int t = threadIdx.x;
  int sum = 0;
  if (t < 20) {
    sum = __reduce_add_sync(NamesAll ? 0x000fffffu : 0x0000ffffu, t);  // reduces_unnamed_lanes
  }
  out[t] = sum;
}
__global__ void syncs_tile(int* out, bool all) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = threadIdx.x;
  int sum = t;
  if (all || t % 32 < 16) {
    sum = cg::reduce(tile, sum, cg::plus<int>());
  } else {
    __syncwarp();  // syncs_in_part_of_tile
  }
  out[t] = sum;
}
__global__ void checks(const int* in, int n) {
  if (in[threadIdx.x] >= n) __trap();  // traps
}
// A mask may name lanes that have exited: they take no part.
template <bool NamesExited>
__global__ void matches(int* out, int n) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffffu, t < n);
  if (t >= n) return;
  out[t] = __popc(__match_any_sync(NamesExited ? 0xffffffffu : mask, t % 3));
}

void neighbours(bool clamped) {
  int* const words = device_words(64);
  if (clamped) {
    takes_neighbours<true><<<2, 32>>>(words, device_words(64), 64);
  } else {
    takes_neighbours<false><<<2, 32>>>(words, device_words(64), 64);
  }
}
void rows(bool by_pitch) {
  char* memory;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&memory, &pitch, 100, 5));
  EXPECT(pitch >= 100 && pitch % 32 == 0);
  if (by_pitch) {
    fills_rows<0><<<1, 25>>>(memory, pitch, 5);
  } else {
    fills_rows<4 * 1000><<<1, 25>>>(memory, pitch, 5);
  }
}
void shared_address(bool same_grid) {
  int** kept;
  CHECK(cudaMalloc(&kept, sizeof *kept));
  keeps_shared_address<<<1, 32>>>(kept, device_words(32));
  if (!same_grid) uses_address<<<1, 32>>>(kept, device_words(32));
}
// `what`: 0 right; 1 a null link; 2 an address of the host's heap.
void list(int what) {
  int* links[32];
  static int of_host;
  for (int*& each : links) each = device_words(1);
  if (what == 1) links[9] = nullptr;
  if (what == 2) links[9] = new int(of_host);
  int** memory;
  CHECK(cudaMalloc(&memory, sizeof links));
  CHECK(cudaMemcpy(memory, links, sizeof links, cudaMemcpyHostToDevice));
  follows_list<<<1, 32>>>(memory, device_words(32));
}
void nodes(bool reads_first) {
  Node** head;
  CHECK(cudaMalloc(&head, sizeof *head));
  CHECK(cudaMemset(head, 0, sizeof *head));
  makes_list<<<1, 1>>>(head, 9);
  Node* first;
  CHECK(cudaMemcpy(&first, head, sizeof first, cudaMemcpyDeviceToHost));
  if (reads_first) {
    drops_list<true><<<1, 1>>>(first, device_words(1));
  } else {
    drops_list<false><<<1, 1>>>(first, device_words(1));
  }
}
void shapes(bool makes) {
  Shape** shape;
  CHECK(cudaMalloc(&shape, sizeof *shape));
  CHECK(cudaMemset(shape, 0, sizeof *shape));
  if (makes) makes_shape<<<1, 1>>>(shape);
  calls_shape<<<1, 32>>>(shape, device_words(32));
}

const Case kCases[] = {
    {"looks_before_first", [] { neighbours(false); }},
    {"takes_neighbours", [] { neighbours(true); }},
    {"takes_width_for_bytes", [] { rows(false); }},
    {"fills_rows", [] { rows(true); }},
    {"casts_odd_address",
     [] { casts_chars<<<1, 8>>>(reinterpret_cast<char*>(device_words(64)), device_words(8), 2); }},
    {"casts_even_address",
     [] { casts_chars<<<1, 8>>>(reinterpret_cast<char*>(device_words(64)), device_words(8), 8); }},
    {"overflows_index", [] { multiplies_index<<<1, 32>>>(device_words(64), 1 << 20, 1 << 11); }},
    {"multiplies_index", [] { multiplies_index<<<1, 32>>>(device_words(64), 1, 32); }},
    {"uses_shared_of_other_grid", [] { shared_address(false); }},
    {"keeps_shared_address", [] { shared_address(true); }},
    {"follows_null", [] { list(1); }},
    {"follows_host_pointer", [] { list(2); }},
    {"follows_list", [] { list(0); }},
    {"reads_deleted_node", [] { nodes(false); }},
    {"drops_list", [] { nodes(true); }},
    {"calls_unmade_object", [] { shapes(false); }},
    {"calls_object", [] { shapes(true); }},
    {"recurses_too_deep", [] { recurses<<<1, 1>>>(device_words(1), 100000); }},
    {"recurses", [] { recurses<<<1, 32>>>(device_words(32), 2); }},
    {"calls_empty_slot", [] { chooses<<<1, 32>>>(device_words(32), 3); }},
    {"chooses", [] { chooses<<<1, 32>>>(device_words(32), 2); }},
    {"reduces_unnamed_lanes", [] { reduces_by_mask<false><<<1, 32>>>(device_words(32)); }},
    {"reduces_by_mask", [] { reduces_by_mask<true><<<1, 32>>>(device_words(32)); }},
    {"syncs_in_part_of_tile", [] { syncs_tile<<<1, 64>>>(device_words(64), false); }},
    {"syncs_tile", [] { syncs_tile<<<1, 64>>>(device_words(64), true); }},
    {"traps", [] { checks<<<1, 32>>>(device_words(32), 0); }},
    {"checks", [] { checks<<<1, 32>>>(device_words(32), 1); }},
    {"matches", [] { matches<false><<<1, 32>>>(device_words(32), 20); }},
    {"matches_beside_exited", [] { matches<true><<<1, 32>>>(device_words(32), 20); }},
};

int main(int count, char** values) {
  return run_case(kCases, count, values);
}
