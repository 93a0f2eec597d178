// Small programs with one planted error between blocks, grids or nodes of a graph each, beside
// right ones. A line of the error ends with the name of its case. Races inside of a grid are found
// with `--races global`.
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "planted.cuh"

namespace cg = cooperative_groups;

// --- Blocks of one grid ---
// The last block that arrives sums what the others stored.
template <bool HasFence>
__global__ void sums_last(int* parts, unsigned* arrived, int* out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;  // sums_without_fence
    if (HasFence) __threadfence();
    is_last = atomicAdd(arrived, 1) == gridDim.x - 1;
    if (HasFence && is_last) __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int sum = 0;
  for (int k = 0; k < gridDim.x; ++k) sum += parts[k];  // sums_without_fence
  *out = sum;
}
template <bool Releases>
__global__ void locks(int* lock, int* value) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
  if (Releases) __threadfence();
  *value += 1;  // locks_without_fence
  if (Releases) __threadfence();
  atomicExch(lock, 0);
}
template <cuda::thread_scope Scope>
__global__ void passes_on(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, Scope> ready(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;  // passes_on_in_block_scope
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;  // passes_on_in_block_scope
  }
}
template <bool SyncsGrid>
__global__ void steps(int* from, int* to) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  from[k] = k;  // steps_without_sync
  if (SyncsGrid) {
    cg::this_grid().sync();
  } else {
    __syncthreads();
  }
  to[k] = from[n - 1 - k];  // steps_without_sync
}
// --- Grids ---
__global__ void put(int* words, int value) {
  words[threadIdx.x] = value;  // forks_early, node_lacks_edge, frees_early, records_early
}
__global__ void copy(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];  // node_lacks_edge, forks_early, records_early
}
__global__ void triggers(int* words) {
  cudaTriggerProgrammaticLaunchCompletion();
  words[threadIdx.x] = 7;
}
template <bool Waits>
__global__ void follows(const int* words, int* out, int skipped) {
  if (Waits || threadIdx.x >= skipped) cudaGridDependencySynchronize();
  out[threadIdx.x] = words[threadIdx.x];  // waits_in_some_threads
}
template <bool Waits>
void launch_early() {
  int* const words = device_words(64);
  int* const out = device_words(64);
  triggers<<<1, 64>>>(words);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.attrs = &early;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, follows<Waits>, static_cast<const int*>(words), out, 32));
}
template <typename Kernel>
void launch_cooperative(Kernel kernel) {
  int *from = device_words(256), *to = device_words(256);
  void* arguments[] = {&from, &to};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 4, 64, arguments, 0, nullptr));
}
// A node copies what another one writes; `has_edge` orders them.
void build_graph(bool has_edge) {
  int *words = device_words(64), *out = device_words(64), value = 3;
  const int* from = words;
  CHECK(cudaDeviceSynchronize());
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second;
  void *of_put[] = {&words, &value}, *of_copy[] = {&from, &out};
  cudaKernelNodeParams node = {reinterpret_cast<void*>(put), 1, 64, 0, of_put, nullptr};
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &node));
  node.func = reinterpret_cast<void*>(copy);
  node.kernelParams = of_copy;
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, has_edge ? 1 : 0, &node));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
}
// A captured branch: `waits` says whether it waits for the write, which is what the fork is for.
void capture_fork(bool waits) {
  const Streams s;
  int *words = device_words(64), *out = device_words(64);
  CHECK(cudaDeviceSynchronize());
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  CHECK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
  if (!waits) CHECK(cudaEventRecord(fork, s.a));
  put<<<1, 64, 0, s.a>>>(words, 5);
  if (waits) CHECK(cudaEventRecord(fork, s.a));
  CHECK(cudaStreamWaitEvent(s.b, fork));
  copy<<<1, 64, 0, s.b>>>(words, out);
  CHECK(cudaEventRecord(join, s.b));
  CHECK(cudaStreamWaitEvent(s.a, join));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamEndCapture(s.a, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s.a));
  CHECK(cudaGraphLaunch(exec, s.a));
}
// An event that is recorded again in each turn, one turn too early or not.
void turns(bool is_right) {
  const Streams s;
  int *words = device_words(64), *out = device_words(64);
  cudaEvent_t written, copied;
  CHECK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < 3; ++k) {
    CHECK(cudaStreamWaitEvent(s.a, copied));
    if (!is_right) CHECK(cudaEventRecord(written, s.a));
    put<<<1, 64, 0, s.a>>>(words, k);
    if (is_right) CHECK(cudaEventRecord(written, s.a));
    CHECK(cudaStreamWaitEvent(s.b, written));
    copy<<<1, 64, 0, s.b>>>(words, out);
    CHECK(cudaEventRecord(copied, s.b));
  }
}
// One stream frees to the pool what another one still writes.
void pool(bool waits) {
  const Streams s;
  cudaEvent_t used;
  CHECK(cudaEventCreate(&used));
  for (int k = 0; k < 3; ++k) {
    int* words;
    CHECK(cudaMallocAsync(&words, 256, s.a));
    CHECK(cudaEventRecord(used, s.a));
    CHECK(cudaStreamWaitEvent(s.b, used));
    put<<<1, 64, 0, s.b>>>(words, k);
    if (waits) {
      CHECK(cudaEventRecord(used, s.b));
      CHECK(cudaStreamWaitEvent(s.a, used));
    }
    CHECK(cudaFreeAsync(words, s.a));
  }
}

const Case kCases[] = {
    {"sums_without_fence",
     [] {
       sums_last<false><<<4, 32>>>(device_words(4), reinterpret_cast<unsigned*>(device_words(1)),
                                   device_words(1));
     }},
    {"sums_last",
     [] {
       sums_last<true><<<4, 32>>>(device_words(4), reinterpret_cast<unsigned*>(device_words(1)),
                                  device_words(1));
     }},
    {"locks_without_fence", [] { locks<false><<<4, 32>>>(device_words(1), device_words(1)); }},
    {"locks", [] { locks<true><<<4, 32>>>(device_words(1), device_words(1)); }},
    {"passes_on_in_block_scope",
     [] {
       passes_on<cuda::thread_scope_block>
           <<<2, 32>>>(device_words(1), device_words(1), device_words(1));
     }},
    {"passes_on",
     [] {
       passes_on<cuda::thread_scope_device>
           <<<2, 32>>>(device_words(1), device_words(1), device_words(1));
     }},
    {"steps_without_sync", [] { launch_cooperative(steps<false>); }},
    {"steps", [] { launch_cooperative(steps<true>); }},
    {"waits_in_some_threads", [] { launch_early<false>(); }},
    {"waits_in_all_threads", [] { launch_early<true>(); }},
    {"node_lacks_edge", [] { build_graph(false); }},
    {"node_has_edge", [] { build_graph(true); }},
    {"forks_early", [] { capture_fork(false); }},
    {"forks_and_joins", [] { capture_fork(true); }},
    {"records_early", [] { turns(false); }},
    {"records_event", [] { turns(true); }},
    {"frees_early", [] { pool(false); }},
    {"frees_pool_in_order", [] { pool(true); }},
};

int main(int count, char** values) {
  return run_case(kCases, count, values);
}
