// Small programs with one planted error in the stages of a block each, beside right ones.
// A line of the error ends with the name of its case.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cuda/barrier>

#include "planted.cuh"

namespace cg = cooperative_groups;

// --- Stages in shared memory ---
// The buffers alternate, but the last barrier of a turn is missing.
template <bool HasBarrier>
__global__ void alternates(const int* in, int* out, int turns) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < turns; ++k) {
    s[t] = in[t] + k;  // overwrites_tile
    __syncthreads();
    sum += s[127 - t];
    if (HasBarrier) __syncthreads();
  }
  out[t] = sum;
}
template <bool IsDouble>
__global__ void scans(int* out) {
  __shared__ int s[2][128];
  const int t = threadIdx.x;
  int from = 0;
  s[0][t] = t;
  __syncthreads();
  for (int distance = 1; distance < 128; distance *= 2) {
    const int to = IsDouble ? 1 - from : from;
    const int sum = s[from][t] + (t >= distance ? s[from][t - distance] : 0);
    s[to][t] = sum;  // scans_in_place
    from = to;
    __syncthreads();
  }
  out[t] = s[from][t];
}
template <bool IsAtomic>
__global__ void counts_bins(int* out) {
  __shared__ int bins[8];
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  if (IsAtomic) {
    atomicAdd(&bins[t * 5 % 8], 1);
  } else {
    bins[t * 5 % 8] += 1;  // counts_bins_plainly
  }
  __syncthreads();
  if (t < 8) out[t] = bins[t];
}
template <int Pad>
__global__ void transposes(int* out) {
  __shared__ int s[32][32 + Pad];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int k = 0; k < 32; k += 8) s[y + k][x] = x + 32 * (y + k);
  if (Pad != 0) __syncthreads();
  for (int k = 0; k < 32; k += 8) out[x + 32 * (y + k)] = s[x][y + k];  // transposes_unordered
}
template <bool HasHalo>
__global__ void smooths(const int* in, int* out) {
  __shared__ int s[66];
  const int t = threadIdx.x;
  s[t + 1] = in[t];
  if (HasHalo && t < 2) s[t * 65] = 0;
  __syncthreads();
  out[t] = s[t] + s[t + 1] + s[t + 2];  // smooths_without_halo
}

// --- Named barriers ---
// Warp 0 produces for warp 1, through two slots, and `barrier.arrive` frees one. A producer that
// does not wait for a free slot arrives twice in one phase, and so leaves the consumer behind.
template <bool Waits>
__global__ void hands_over(int* out) {
  __shared__ int slot[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int k = 0; k < 6; ++k) {
      if (Waits && k >= 2) asm volatile("barrier.sync %0, 64;" ::"r"(3 + k % 2) : "memory");
      slot[k % 2][lane] = k * lane;
      asm volatile("barrier.arrive %0, 64;" ::"r"(1 + k % 2) : "memory");
    }
    return;
  }
  int sum = 0;
  for (int k = 0; k < 6; ++k) {
    asm volatile("barrier.sync %0, 64;" ::"r"(1 + k % 2) : "memory");  // runs_ahead
    sum += slot[k % 2][31 - lane];
    if (Waits && k < 4) asm volatile("barrier.arrive %0, 64;" ::"r"(3 + k % 2) : "memory");
  }
  out[lane] = sum;
}
// The trip count differs between warps.
__global__ void loops_unequally(int* out, int more) {
  __shared__ int s[64];
  const int t = threadIdx.x, turns = t < 32 ? 2 : 2 + more;
  s[t] = 0;
  for (int k = 0; k < turns; ++k) {
    asm volatile("barrier.sync 2, 64;" ::: "memory");  // loops_unequally
    s[t] += k;
  }
  asm volatile("barrier.sync 3, 64;" ::: "memory");
  out[t] = s[t];
}

// --- Copies ---
template <int Left>
__global__ void prefetches(const int* in, int* out) {
  __shared__ alignas(16) int s[2][128];
  const int t = threadIdx.x;
  const auto fetch = [&](int k) {
    __pipeline_memcpy_async(&s[k % 2][t], in + 128 * k + t, 4);
    __pipeline_commit();
  };
  fetch(0);
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (k + 1 < 4) fetch(k + 1);
    if (k + 1 < 4) {
      __pipeline_wait_prior(1 + Left);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    sum += s[k % 2][127 - t];  // waits_for_older_stage
    __syncthreads();
  }
  out[t] = sum;
}
template <bool Waits>
__global__ void copies_as_group(const int* in, int* out) {
  __shared__ alignas(16) int s[128];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof s);
  if (Waits) {
    cg::wait(block);
  } else {
    block.sync();
  }
  out[threadIdx.x] = s[127 - threadIdx.x];  // copies_without_wait
}
template <bool Waits>
__global__ void meets_at_barrier_object(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, 128);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    s[t] = t + k;
    auto token = barrier.arrive();
    if (Waits) {
      barrier.wait(std::move(token));
    } else {
      (void)token;
    }
    sum += s[127 - t];  // arrives_without_wait
    barrier.arrive_and_wait();
  }
  out[t] = sum;
}
template <bool HasInit>
__global__ void uses_barrier_object(int* out) {
  __shared__ std::uint64_t words[1];
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(words));
  if (threadIdx.x == 0) {
    if (HasInit) {
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address) : "memory");
    } else {
      words[0] = 0;
    }
  }
  __syncthreads();
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address) : "memory");  // lacks_init
  int done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address)
        : "memory");
  }
  out[threadIdx.x] = 1;
}

// --- Matrices ---
template <bool HasBarrier>
__global__ void multiplies(float* out) {
  using namespace nvcuda::wmma;
  __shared__ alignas(32) half a[256], b[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    a[k] = __float2half(static_cast<float>(k % 3));
    b[k] = __float2half(static_cast<float>(k % 5));
  }
  if (HasBarrier) __syncthreads();
  fragment<matrix_a, 16, 16, 16, half, row_major> x;
  fragment<matrix_b, 16, 16, 16, half, col_major> y;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(x, a, 16);  // multiplies_unordered
  load_matrix_sync(y, b, 16);  // multiplies_unordered
  mma_sync(sum, x, y, sum);
  if (threadIdx.x < 32) store_matrix_sync(out, sum, 16, mem_row_major);
}

const Case kCases[] = {
    {"overwrites_tile",
     [] { alternates<false><<<1, 128>>>(device_words(128), device_words(128), 3); }},
    {"keeps_tile", [] { alternates<true><<<1, 128>>>(device_words(128), device_words(128), 3); }},
    {"scans_in_place", [] { scans<false><<<1, 128>>>(device_words(128)); }},
    {"scans_in_two_buffers", [] { scans<true><<<1, 128>>>(device_words(128)); }},
    {"counts_bins_plainly", [] { counts_bins<false><<<1, 128>>>(device_words(8)); }},
    {"counts_bins", [] { counts_bins<true><<<1, 128>>>(device_words(8)); }},
    {"transposes_unordered", [] { transposes<0><<<1, dim3(32, 8)>>>(device_words(1024)); }},
    {"transposes", [] { transposes<1><<<1, dim3(32, 8)>>>(device_words(1024)); }},
    {"smooths_without_halo", [] { smooths<false><<<1, 64>>>(device_words(64), device_words(64)); }},
    {"smooths", [] { smooths<true><<<1, 64>>>(device_words(64), device_words(64)); }},
    {"runs_ahead", [] { hands_over<false><<<1, 64>>>(device_words(32)); }},
    {"hands_over", [] { hands_over<true><<<1, 64>>>(device_words(32)); }},
    {"loops_unequally", [] { loops_unequally<<<1, 64>>>(device_words(64), 1); }},
    {"loops_equally", [] { loops_unequally<<<1, 64>>>(device_words(64), 0); }},
    {"waits_for_older_stage",
     [] { prefetches<1><<<1, 128>>>(device_words(512), device_words(128)); }},
    {"prefetches", [] { prefetches<0><<<1, 128>>>(device_words(512), device_words(128)); }},
    {"copies_without_wait",
     [] { copies_as_group<false><<<1, 128>>>(device_words(128), device_words(128)); }},
    {"copies_as_group",
     [] { copies_as_group<true><<<1, 128>>>(device_words(128), device_words(128)); }},
    {"arrives_without_wait", [] { meets_at_barrier_object<false><<<1, 128>>>(device_words(128)); }},
    {"meets_at_barrier_object",
     [] { meets_at_barrier_object<true><<<1, 128>>>(device_words(128)); }},
    {"lacks_init", [] { uses_barrier_object<false><<<1, 32>>>(device_words(32)); }},
    {"has_init", [] { uses_barrier_object<true><<<1, 32>>>(device_words(32)); }},
    {"multiplies_unordered",
     [] { multiplies<false><<<1, 64>>>(reinterpret_cast<float*>(device_words(256))); }},
    {"multiplies",
     [] { multiplies<true><<<1, 64>>>(reinterpret_cast<float*>(device_words(256))); }},
};

int main(int count, char** values) {
  return run_case(kCases, count, values);
}
