// Small programs with one planted error in the order of streams each, beside right ones.
#include "planted.cuh"

__global__ void write(int* words) {
  words[threadIdx.x] = threadIdx.x;
}
__global__ void add(int* words) {
  words[threadIdx.x] += 1;
}
__global__ void copy(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
__constant__ int table[128];
__global__ void read_table(int* to) {
  to[threadIdx.x] = table[threadIdx.x];
}

int* words_of(cudaStream_t stream) {
  int* words;
  CHECK(cudaMallocAsync(&words, 512, stream));
  return words;
}
int* pinned_words() {
  int* words;
  CHECK(cudaMallocHost(&words, 512));
  std::memset(words, 0, 512);
  return words;
}
int* managed_words() {
  int* words;
  CHECK(cudaMallocManaged(&words, 512));
  return words;
}
// What follows in `after` comes after what is in `before`.
void order(cudaStream_t before, cudaStream_t after) {
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(event, before));
  CHECK(cudaStreamWaitEvent(after, event));
}
void use_graph(bool after_free) {
  const Streams s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
  int* const words = words_of(s.a);
  write<<<1, 128, 0, s.a>>>(words);
  CHECK(cudaFreeAsync(words, s.a));
  if (after_free) write<<<1, 128, 0, s.a>>>(words);
  CHECK(cudaStreamEndCapture(s.a, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s.a));
  if (!after_free) CHECK(cudaGraphLaunch(exec, s.a));
}
int* g_words;
void call(bool is_ordered) {
  const Streams s;
  g_words = pinned_words();
  const auto fill = [](void*) {
    for (int k = 0; k < 128; ++k) g_words[k] = 7;
  };
  CHECK(cudaLaunchHostFunc(s.a, fill, nullptr));
  if (is_ordered) order(s.a, s.b);
  write<<<1, 128, 0, s.b>>>(g_words);
}

const Case kCases[] = {
    {"two_streams",
     [] {
       const Streams s;
       int* const words = device_words(128);
       CHECK(cudaDeviceSynchronize());
       add<<<1, 128, 0, s.a>>>(words);
       add<<<1, 128, 0, s.b>>>(words);
     }},
    {"event_before_its_work",
     [] {
       const Streams s;
       int* const words = device_words(128);
       int* const other = device_words(128);
       CHECK(cudaDeviceSynchronize());
       order(s.a, s.b);
       write<<<1, 128, 0, s.a>>>(words);
       copy<<<1, 128, 0, s.b>>>(words, other);
     }},
    {"event_behind_its_work",
     [] {
       const Streams s;
       int* const words = device_words(128);
       int* const other = device_words(128);
       CHECK(cudaDeviceSynchronize());
       write<<<1, 128, 0, s.a>>>(words);
       order(s.a, s.b);
       copy<<<1, 128, 0, s.b>>>(words, other);
     }},
    // --- Memory in the order of streams ---
    {"uses_before_allocation",
     [] {
       const Streams s;
       write<<<1, 128, 0, s.b>>>(words_of(s.a));
     }},
    {"fills_before_allocation",
     [] {
       const Streams s;
       CHECK(cudaMemsetAsync(words_of(s.a), 0, 512, s.b));
     }},
    {"frees_before_allocation",
     [] {
       const Streams s;
       CHECK(cudaFreeAsync(words_of(s.a), s.b));
     }},
    {"uses_after_allocation",
     [] {
       const Streams s;
       int* words = words_of(s.a);
       order(s.a, s.b);
       write<<<1, 128, 0, s.b>>>(words);
       order(s.b, s.a);
       CHECK(cudaFreeAsync(words, s.a));
       words = words_of(s.a);
       CHECK(cudaStreamSynchronize(s.a));
       write<<<1, 128, 0, s.b>>>(words);
       // The default stream is ordered with a blocking one, both ways.
       cudaStream_t blocking;
       CHECK(cudaStreamCreate(&blocking));
       words = words_of(nullptr);
       write<<<1, 128, 0, blocking>>>(words);
       CHECK(cudaFreeAsync(words, nullptr));
       words = words_of(blocking);
       write<<<1, 128>>>(words);
       CHECK(cudaFreeAsync(words, blocking));
     }},
    {"frees_while_in_use",
     [] {
       const Streams s;
       int* const words = words_of(s.a);
       CHECK(cudaDeviceSynchronize());
       write<<<1, 128, 0, s.b>>>(words);
       CHECK(cudaFreeAsync(words, s.a));
     }},
    {"uses_after_free",
     [] {
       const Streams s;
       int* const words = words_of(s.a);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaFreeAsync(words, s.a));
       write<<<1, 128, 0, s.b>>>(words);
     }},
    {"uses_graph_memory_after_free", [] { use_graph(true); }},
    {"uses_graph_memory", [] { use_graph(false); }},
    {"frees_twice",
     [] {
       int* const words = device_words(128);
       CHECK(cudaFree(words));
       cudaFree(words);
     }},
    {"frees_twice_in_stream",
     [] {
       int* const words = words_of(nullptr);
       CHECK(cudaFreeAsync(words, nullptr));
       cudaFreeAsync(words, nullptr);
     }},
    {"frees_inside", [] { cudaFree(device_words(128) + 4); }},
    {"frees_pinned_twice",
     [] {
       int* const words = pinned_words();
       CHECK(cudaFreeHost(words));
       cudaFreeHost(words);
     }},
    {"frees_inside_pinned", [] { cudaFreeHost(pinned_words() + 4); }},
    {"frees_managed_twice",
     [] {
       int* const words = managed_words();
       CHECK(cudaFree(words));
       cudaFree(words);
     }},
    {"frees_twice_to_pool_of_host",
     [] {
       cudaMemPoolProps props = {};
       props.allocType = cudaMemAllocationTypePinned;
       props.location.type = cudaMemLocationTypeHost;
       cudaMemPool_t pool;
       CHECK(cudaMemPoolCreate(&pool, &props));
       void* words;
       CHECK(cudaMallocFromPoolAsync(&words, 512, pool, nullptr));
       CHECK(cudaFreeAsync(words, nullptr));
       EXPECT(cudaFreeAsync(words, nullptr) == cudaErrorInvalidValue);
       EXPECT(cudaFree(words) == cudaErrorInvalidValue);
     }},
    {"frees_pinned_and_managed",
     [] {
       // The memory may come back at its old address, as pinned memory or of another kind.
       for (int k = 0; k < 8; ++k) {
         int* const words = pinned_words();
         int* const managed = managed_words();
         CHECK(cudaFreeHost(words));
         CHECK(cudaFree(managed));
         void* const own = std::malloc(1 << 14);
         CHECK(cudaHostRegister(own, 1 << 14, cudaHostRegisterDefault));
         CHECK(cudaHostUnregister(own));
         std::free(own);
       }
       CHECK(cudaFreeHost(nullptr));
       int* const words = pinned_words();
       CHECK(cudaDeviceReset());
       cudaFreeHost(words);
     }},
    {"frees_once",
     [] {
       CHECK(cudaFree(device_words(128)));
       CHECK(cudaFree(nullptr));
     }},
    // --- Copies, fills, the host ---
    {"fills_overlap",
     [] {
       const Streams s;
       int* const words = device_words(128);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaMemsetAsync(words, 1, 300, s.a));
       CHECK(cudaMemsetAsync(words + 64, 2, 200, s.b));
     }},
    {"copies_to_pinned_while_kernel_reads",
     [] {
       const Streams s;
       int* const host = pinned_words();
       int* const words = device_words(128);
       int* const other = device_words(128);
       CHECK(cudaDeviceSynchronize());
       copy<<<1, 128, 0, s.b>>>(host, other);
       CHECK(cudaMemcpyAsync(host, words, 512, cudaMemcpyDeviceToHost, s.a));
     }},
    {"changes_constants_in_use",
     [] {
       const Streams s;
       static int values[128] = {1};
       int* const words = device_words(128);
       CHECK(cudaDeviceSynchronize());
       read_table<<<1, 128, 0, s.a>>>(words);
       CHECK(cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, s.b));
     }},
    {"changes_constants_before_use",
     [] {
       const Streams s;
       static int values[128] = {1};
       int* const words = device_words(128);
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, s.a));
       read_table<<<1, 128, 0, s.a>>>(words);
     }},
    {"host_function_beside_kernel", [] { call(false); }},
    {"host_function_before_kernel", [] { call(true); }},
    {"reads_pinned_before_copy",
     [] {
       const Streams s;
       int* const host = pinned_words();
       int* const words = device_words(128);
       CHECK(cudaDeviceSynchronize());
       write<<<1, 128, 0, s.a>>>(words);
       CHECK(cudaMemcpyAsync(host, words, 512, cudaMemcpyDeviceToHost, s.a));
       std::printf("%d\n", host[5]);
     }},
    {"writes_managed_while_kernel_runs",
     [] {
       int* words;
       CHECK(cudaMallocManaged(&words, 512));
       std::memset(words, 0, 512);
       add<<<1, 128>>>(words);
       words[5] = 3;
     }},
};

int main(int count, char** values) {
  return run_case(kCases, count, values);
}
