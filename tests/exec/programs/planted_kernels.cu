// Small programs with one planted error in a kernel each, beside right ones.
#include <cooperative_groups.h>

#include <cstdint>

#include "planted.cuh"

namespace cg = cooperative_groups;

// --- Barriers that some threads skip ---
// The second half of the threads meets the first half at another barrier than the program means.
__global__ void skips_barrier(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = t;
  if (t < 64) {
    __syncthreads();
    s[t] = 2 * t;
  }
  __syncthreads();
  out[t] = s[127 - t];
}
// Half of the lanes of each warp leave before the barrier, and the others race after it.
__global__ void races_after_exits(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  if ((t & 31) >= 16) return;
  __syncthreads();
  s[(t + 1) & 63] = t;
  out[t] = s[t];
}
__global__ void diverges_at_barriers(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  if (t % 2 == 0) {
    __syncthreads();
    out[t] = s[t ^ 1];
  } else {
    __syncthreads();
    out[t] = -s[t ^ 1];
  }
}
// Threads that skip the barrier write meanwhile.
__global__ void writes_beside_barrier(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    asm volatile("bar.sync 1, 32;" ::: "memory");
    out[t] = s[31 - t];
  } else {
    s[t - 32] = -t;
  }
}
__global__ void exits_before_barrier(int* out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t;
  __syncthreads();
  out[t] = s[n - 1 - t];
}
// The barrier waits for the second warp to exit. The memory model does not order it.
__global__ void reads_what_exited_warp_wrote(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t >= 32) {
    s[t - 32] = t;
    return;
  }
  __syncthreads();
  out[t] = s[t];
}
__global__ void reduces_without_barrier(int* out) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    if (half > 64) __syncthreads();
  }
  if (t == 0) *out = s[0];
}
__global__ void lacks_syncwarp(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  out[t] = s[t ^ 1];
}
__global__ void has_syncwarp(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[t ^ 1];
}

// --- Shuffles ---
__global__ void sums_exited_lanes(int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  int sum = t;
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
  if (t == 0) *out = sum;
}
__global__ void is_not_in_its_mask(int* out) {
  out[threadIdx.x] = __shfl_xor_sync(0x0000ffff, threadIdx.x, 1);
}
__global__ void takes_unnamed_lanes(int* out) {
  const int t = threadIdx.x;
  const unsigned mask = t < 16 ? 0x0000ffff : 0xffff0000;
  out[t] = 1 + __shfl_sync(mask, t, t ^ 16);
}
__global__ void shuffles_in_two_branches(int* out) {
  const int t = threadIdx.x;
  int value = t;
  if (t < 16) {
    value = __shfl_sync(0xffffffff, value, 3);
  } else {
    value = __shfl_sync(0xffffffff, value, 20) + 1;
  }
  out[t] = value;
}
__global__ void leaves_absent_lanes_out(int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  int sum = t;
  for (int half = 16; half > 0; half /= 2) {
    const int other = __shfl_down_sync((1u << n) - 1, sum, half);
    if (t + half < n) sum += other;
  }
  if (t == 0) *out = sum;
}
__global__ void scans_and_reduces(int* out) {
  const int t = threadIdx.x, lane = t & 31;
  int sum = t;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += other;
  }
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  sum += tile.shfl_xor(sum, 2) + tile.shfl_down(sum, 1);
  if (t % 3 == 0) {
    const auto group = cg::coalesced_threads();
    sum += group.shfl(sum, 0) + group.shfl_down(sum, 1);
  }
  out[t] = sum;
}

// --- Where accesses go ---
__global__ void stores_misaligned_vector(float* out) {
  reinterpret_cast<float4*>(out + 1)[threadIdx.x] = make_float4(1, 2, 3, 4);
}
__global__ void writes_beyond_shared(int* out, int shift) {
  __shared__ int s[64];
  s[threadIdx.x + shift] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void writes_beyond_local(int* out, int n) {
  int a[8];
  for (int k = 0; k < n; ++k) a[k] = k * out[k % 8];
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += a[(k * 5 + out[0]) % n];
  out[threadIdx.x] = sum;
}
__global__ void writes_word(int* out) {
  out[threadIdx.x] = 1;
}
__global__ void reads_unwritten_shared(int* out) {
  __shared__ int s[128];
  if (threadIdx.x > 0) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void uses_dynamic_shared(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void counts_without_atomics(int* out) {
  *out += threadIdx.x + blockIdx.x;
}

// --- Asynchronous copies ---
__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__global__ void copies_out(int* out, bool has_fence) {
  __shared__ alignas(128) int s[256];
  s[threadIdx.x] = threadIdx.x;
  if (has_fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
               "r"(shared_address(s)), "r"(1024)
               : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void copies_in(const int* in, int* out, int expected) {
  __shared__ alignas(128) int s[256];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                 "r"(expected)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(s)),
        "l"(in), "r"(1024), "r"(shared_address(&full))
        : "memory");
  }
  int done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(shared_address(&full))
        : "memory");
  }
  out[threadIdx.x] = s[threadIdx.x];
}

// --- Clusters ---
struct Pair {
  int a;
  double b;
};
__device__ __noinline__ int sum_of(const int* words, int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += words[k];
  return sum;
}
__global__ void __cluster_dims__(2, 1, 1) reads_other_block(int* out, Pair pair, bool waits) {
  __shared__ int s[64];
  __shared__ Pair z;
  extern __shared__ int dynamic[];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) z = pair;
  s[t] = t;
  dynamic[t] = t;
  cluster.sync();
  if (cluster.block_rank() == 1) atomicAdd(cluster.map_shared_rank(&s[t], 0), 5);
  const int sum = sum_of(cluster.map_shared_rank(dynamic, cluster.block_rank() ^ 1), 64);
  if (waits) cluster.sync();
  out[blockIdx.x * 64 + t] = sum + z.a + static_cast<int>(cluster.num_threads());
}
__global__ void syncs_grid(int* out) {
  out[blockIdx.x] = 1;
  cg::this_grid().sync();
  out[64 + blockIdx.x] = out[(blockIdx.x + 1) % gridDim.x];
}
void sync_grid(int blocks) {
  int* out = device_words(1 << 18);
  void* arguments[] = {&out};
  const cudaError_t error = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(syncs_grid), blocks,
                                                        1024, arguments, 0, nullptr);
  std::printf("%s\n", cudaGetErrorName(error));
}

const Case kCases[] = {
    {"skips_barrier", [] { skips_barrier<<<1, 128>>>(device_words(128)); }},
    {"races_after_exits", [] { races_after_exits<<<1, 64>>>(device_words(64)); }},
    {"diverges_at_barriers", [] { diverges_at_barriers<<<1, 64>>>(device_words(64)); }},
    {"writes_beside_barrier", [] { writes_beside_barrier<<<1, 64>>>(device_words(64)); }},
    {"exits_before_barrier", [] { exits_before_barrier<<<1, 128>>>(device_words(128), 100); }},
    {"reads_what_exited_warp_wrote",
     [] { reads_what_exited_warp_wrote<<<1, 64>>>(device_words(64)); }},
    {"reduces_without_barrier", [] { reduces_without_barrier<<<1, 256>>>(device_words(1)); }},
    {"lacks_syncwarp", [] { lacks_syncwarp<<<1, 32>>>(device_words(32)); }},
    {"has_syncwarp", [] { has_syncwarp<<<1, 32>>>(device_words(32)); }},
    {"sums_exited_lanes", [] { sums_exited_lanes<<<1, 32>>>(device_words(1), 20); }},
    {"is_not_in_its_mask", [] { is_not_in_its_mask<<<1, 32>>>(device_words(32)); }},
    {"takes_unnamed_lanes", [] { takes_unnamed_lanes<<<1, 32>>>(device_words(32)); }},
    {"shuffles_in_two_branches", [] { shuffles_in_two_branches<<<1, 32>>>(device_words(32)); }},
    {"leaves_absent_lanes_out", [] { leaves_absent_lanes_out<<<1, 32>>>(device_words(1), 20); }},
    {"scans_and_reduces", [] { scans_and_reduces<<<1, 48>>>(device_words(48)); }},
    {"stores_misaligned_vector",
     [] { stores_misaligned_vector<<<1, 32>>>(reinterpret_cast<float*>(device_words(256))); }},
    {"writes_beyond_shared", [] { writes_beyond_shared<<<1, 64>>>(device_words(64), 4); }},
    {"writes_beyond_local", [] { writes_beyond_local<<<1, 32>>>(device_words(32), 400); }},
    {"writes_beyond_managed",
     [] {
       int* words;
       CHECK(cudaMallocManaged(&words, 400));
       writes_word<<<1, 128>>>(words);
     }},
    {"writes_freed",
     [] {
       int* const words = device_words(128);
       CHECK(cudaFree(words));
       writes_word<<<1, 128>>>(words);
     }},
    {"reads_unwritten_shared", [] { reads_unwritten_shared<<<1, 128>>>(device_words(128)); }},
    {"has_too_little_shared", [] { uses_dynamic_shared<<<1, 128, 128>>>(device_words(128)); }},
    {"has_enough_shared", [] { uses_dynamic_shared<<<1, 128, 512>>>(device_words(128)); }},
    {"counts_without_atomics", [] { counts_without_atomics<<<2, 64>>>(device_words(1)); }},
    {"copies_out_without_fence", [] { copies_out<<<1, 256>>>(device_words(256), false); }},
    {"copies_out", [] { copies_out<<<1, 256>>>(device_words(256), true); }},
    {"expects_too_few_bytes",
     [] { copies_in<<<1, 256>>>(device_words(256), device_words(256), 512); }},
    {"copies_in", [] { copies_in<<<1, 256>>>(device_words(256), device_words(256), 1024); }},
    {"leaves_cluster_early",
     [] { reads_other_block<<<2, 64, 256>>>(device_words(128), Pair{1, 2}, false); }},
    {"waits_for_cluster",
     [] { reads_other_block<<<2, 64, 256>>>(device_words(128), Pair{1, 2}, true); }},
    {"has_too_many_blocks", [] { sync_grid(100000); }},
    {"syncs_grid", [] { sync_grid(16); }},
};

int main(int count, char** values) {
  return run_case(kCases, count, values);
}
