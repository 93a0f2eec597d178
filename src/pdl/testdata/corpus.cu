// Kernels with and without planted bugs, for the verdicts on edges; built by make_ptx.sh. The bugs
// are the classes that projects with programmatic dependent launch have reported. What a kernel is
// given and what is to be said of it stands in corpus.h.

__device__ float bias_of_module;
__device__ int tickets;
__constant__ float taps[4];

#define KERNEL extern "C" __global__ void
#define TRIGGER() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#ifdef SLOW
// Lets the next launch in and takes its time before it goes on: what that one does too early is
// certain to come before what this one does.
#define WAIT()                                       \
  do {                                               \
    asm volatile("griddepcontrol.wait;" ::: "memory"); \
    TRIGGER();                                       \
    asm volatile("nanosleep.u32 50000;" ::: "memory"); \
  } while (0)
#else
#define WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#endif

__device__ __forceinline__ unsigned element() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
// A load that stays where it is written.
__device__ __forceinline__ float at(const float* p, unsigned long long i) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(p + i) : "memory");
  return value;
}

// ---- Right ones.

KERNEL plain(const float* x, float* y) {
  WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL index_first(const float* x, float* y, unsigned n) {
  const unsigned i = element();
  WAIT();
  if (i >= n) return;
  y[i] = 2 * x[i];
}
KERNEL strides(const float* x, float* y, unsigned n) {
  WAIT();
  for (unsigned i = element(); i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
KERNEL walks(const float* x, float* y, unsigned n) {
  WAIT();
  const float* end = x + n;
  for (const float* p = x + element(); p < end; p += blockDim.x) *y++ = *p;
}
KERNEL wide_strides(const float* x, float* y, long long row, long long column) {
  WAIT();
  y[blockIdx.x * row + threadIdx.x * column] = x[blockIdx.x * column + threadIdx.x * row];
}
KERNEL vectors(const float4* x, float4* y) {
  WAIT();
  float4 v = x[element()];
  v.x += v.w;
  y[element()] = v;
}
KERNEL planes(const float* x, float* y, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  WAIT();
  y[row * width + column] = x[column * width + row];
}
KERNEL weights_early(const float* w, const float* x, float* y) {
  const float weight = at(w, element());
  WAIT();
  y[element()] = weight * x[element()];
}
KERNEL weights_non_coherent(const float* __restrict__ w, const float* x, float* y) {
  const float weight = __ldg(w + element());
  WAIT();
  y[element()] = weight * *static_cast<const volatile float*>(x + element());
}
KERNEL matvec(const float* w, const float* x, float* y, unsigned k) {
  const float* row = w + static_cast<unsigned long long>(element()) * k;
  float first[4];
  for (unsigned i = 0; i < 4; ++i) first[i] = at(row, i);
  WAIT();
  float sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += first[i] * x[i];
  for (unsigned i = 4; i < k; ++i) sum += row[i] * x[i];
  y[element()] = sum;
}
KERNEL rms_norm(const float* w, const float* x, float* y, unsigned n) {
  __shared__ float sums[32];
  const float weight = at(w, threadIdx.x);
  WAIT();
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += x[i] * x[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float all = 0;
  for (unsigned i = 0; i < blockDim.x / 32; ++i) all += sums[i];
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] * weight * rsqrtf(all / n);
}
KERNEL returns_early(const float* x, float* y, unsigned n) {
  if (element() >= n) return;
  WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL blocks_return(const float* x, float* y, unsigned blocks) {
  if (blockIdx.x >= blocks) return;
  WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL leader_waits(const float* x, float* y) {
  if (threadIdx.x == 0) WAIT();
  __syncthreads();
  y[element()] = 2 * x[element()];
}
KERNEL warp_waits(const float* x, float* y) {
  if (threadIdx.x < 32) WAIT();
  __syncthreads();
  y[element()] = 2 * x[element()];
}
KERNEL last_warp_waits(const float* x, float* y) {
  if (threadIdx.x / 32 == 3) WAIT();
  __syncthreads();
  y[element()] = 2 * x[element()];
}
KERNEL specialised(const float* w, const float* x, float* y) {
  __shared__ float tile[128], weights[128];
  if (threadIdx.x < 32) {
    WAIT();
    for (unsigned i = threadIdx.x; i < 128; i += 32) tile[i] = x[blockIdx.x * 128 + i];
  } else if (threadIdx.x < 64) {
    for (unsigned i = threadIdx.x - 32; i < 128; i += 32) weights[i] = at(w, i);
  }
  __syncthreads();
  y[element()] = tile[threadIdx.x] * weights[threadIdx.x];
}
// The number of a thread's warp by way of a lane whose register is another thing further down.
KERNEL role_from_reused_register(const float* x, float* y) {
  unsigned role, more;
  asm volatile(
      "{ .reg .u32 r, warp; mov.u32 warp, %%tid.x; shr.u32 warp, warp, 5; mov.u32 r, 0;\n"
      "shfl.sync.idx.b32 %0, warp, r, 31, -1; mov.u32 r, %%ctaid.x; mov.u32 %1, r; }"
      : "=r"(role), "=r"(more));
  if (role == 0) WAIT();
  __syncthreads();
  if (more < 4) y[element()] = 2 * x[element()];
}
KERNEL sets_up_shared(const int* x, int* counts, unsigned n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  WAIT();
  for (unsigned i = element(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i] & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
KERNEL copies_to_shared(const float* x, float* y) {
  __shared__ float tile[128];
  WAIT();
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + element()) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[element()] = tile[127 - threadIdx.x];
}
KERNEL triggers_after_loads(const float* x, float* y) {
  WAIT();
  const float value = x[element()];
  TRIGGER();
  y[element()] = 2 * value;
}
KERNEL triggers_first(const float* x, float* y) {
  TRIGGER();
  WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL triggers_last(const float* x, float* y) {
  WAIT();
  y[element()] = 2 * x[element()];
  TRIGGER();
}
KERNEL waits_twice(const float* x, float* y) {
  WAIT();
  const float value = x[element()];
  WAIT();
  y[element()] = 2 * value;
}
KERNEL waits_in_both(const float* x, float* y, int which) {
  if (which != 0) {
    TRIGGER();
    WAIT();
    y[element()] = 2 * x[element()];
  } else {
    WAIT();
    y[element()] = 3 * x[element()];
  }
}
KERNEL waits_if(const float* x, float* y, int wait) {
  if (wait != 0) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL prefetches(const float* x, float* y) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(x + element()) : "memory");
  WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL selects(const float* x, const float* other, float* y, int which) {
  const float* from = which != 0 ? x : other;
  WAIT();
  y[element()] = 2 * from[element()];
}
KERNEL picks_from_array(const float* x, const float* other, float* y, int which) {
  const float* list[2] = {x, other};
  WAIT();
  y[element()] = 2 * list[which & 1][element()];
}
__device__ __noinline__ void wait_in_function() {
  WAIT();
}
__device__ __noinline__ float load_in_function(const float* p, unsigned i) {
  return at(p, i);
}
KERNEL calls(const float* x, float* y) {
  wait_in_function();
  y[element()] = load_in_function(x, element());
}
KERNEL filters(const float* x, float* y) {
  const float tap = taps[threadIdx.x & 3];
  WAIT();
  y[element()] = tap * x[element()];
}
struct Sizes {
  long long rows, columns, stride;
};
KERNEL takes_struct(const float* x, float* y, Sizes sizes) {
  WAIT();
  y[blockIdx.x * sizes.stride + threadIdx.x] = x[threadIdx.x * sizes.stride + blockIdx.x];
}
KERNEL adds_module_bias(const float* x, float* y) {
  WAIT();
  y[element()] = x[element()] + bias_of_module;
}
KERNEL sets_module_bias(const float* x) {
  WAIT();
  if (element() == 0) bias_of_module = x[0];
}
KERNEL takes_ticket(const float* x, float* y) {
  WAIT();
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1);
  __syncthreads();
  y[ticket * blockDim.x + threadIdx.x] = x[ticket * blockDim.x + threadIdx.x];
}
KERNEL waits_then_ends() {
  WAIT();
}

// ---- Wrong ones, where they are given what an earlier launch works on.

KERNEL reads_early(const float* x, float* y) {
  const float value = at(x, element());
  WAIT();
  y[element()] = 2 * value;
}
KERNEL never_waits(const float* x, float* y) {
  y[element()] = 2 * x[element()];
}
KERNEL empty() {}
KERNEL triggers_never_waits() {
  TRIGGER();
}
KERNEL writes_early(const float* x, float* y) {
  y[element()] = 0;
  WAIT();
  y[element()] += x[element()];
}
KERNEL counts_early(int* counts) {
  atomicAdd(counts, 1);
  WAIT();
}
KERNEL reduces_early(float* sum) {
  asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(sum) : "memory");
  WAIT();
}
KERNEL other_warps_do_not_wait(const float* x, float* y) {
  if (threadIdx.x < 32) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL one_role_reads_early(const float* x, const float* scales, float* y) {
  __shared__ float tile[128], factors[128];
  if (threadIdx.x < 32) {
    WAIT();
    for (unsigned i = threadIdx.x; i < 128; i += 32) tile[i] = x[i];
  } else if (threadIdx.x < 64) {
    for (unsigned i = threadIdx.x - 32; i < 128; i += 32) factors[i] = at(scales, i);
  }
  __syncthreads();
  y[element()] = tile[threadIdx.x] * factors[threadIdx.x];
}
KERNEL barrier_comes_first(const float* x, float* y) {
  __syncthreads();
  if (threadIdx.x == 0) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL leader_of_some(const float* x, float* y, int wait) {
  if (threadIdx.x == 0 && wait != 0) WAIT();
  __syncthreads();
  y[element()] = 2 * x[element()];
}
KERNEL partial_barrier(const float* x, float* y) {
  if (threadIdx.x < 32) WAIT();
  if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  y[element()] = 2 * x[element()];
}
KERNEL odd_threads_wait(const float* x, float* y) {
  if (threadIdx.x & 1) WAIT();
  y[element()] = 2 * x[element()];
}
// In the register that tells who waits, a guard leaves 1 for some threads.
KERNEL role_behind_a_guard(const float* x, float* y) {
  unsigned role;
  asm volatile(
      "{ .reg .u32 r; .reg .pred p; mov.u32 r, 1; setp.ge.u32 p, %1, 64;\n"
      "@p mov.u32 r, 0; mov.u32 %0, r; }"
      : "=r"(role)
      : "r"(threadIdx.x));
  if (role == 0) WAIT();
  y[element()] = 2 * x[element()];
}
// A loop leaves 1 there for all, though it begins with 0.
KERNEL role_behind_a_loop(const float* x, float* y) {
  unsigned role;
  asm volatile(
      "{ .reg .u32 r, i; .reg .pred p; mov.u32 r, 0; mov.u32 i, 0;\n"
      "AGAIN: mov.u32 %0, r; mov.u32 r, 1; add.u32 i, i, 1; setp.lt.u32 p, i, 2;\n"
      "@p bra AGAIN; }"
      : "=r"(role));
  if (role == 0) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL first_turn_waits(const float* x, float* y) {
  float sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 3; ++i) {
    unsigned turn = i;
    asm volatile("" : "+r"(turn));
    if (turn == 0) WAIT();
    sum += at(x, element());
  }
  y[element()] = sum;
}
KERNEL pipelined(const float* x, float* y, unsigned n) {
  float next = at(x, element());
  for (unsigned i = 0; i < n; ++i) {
    WAIT();
    const float value = next;
    next = at(x, element() + i + 1);
    y[element() + i] = value;
  }
}
KERNEL loop_may_not_run(const float* x, float* y, unsigned n) {
  for (unsigned i = 0; i < n; ++i) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL non_coherent(const float* __restrict__ x, float* __restrict__ y) {
  WAIT();
  y[element()] = 2 * __ldg(x + element());
}
KERNEL copies_early(const float* x, float* y) {
  __shared__ float tile[128];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + element()) : "memory");
  WAIT();
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[element()] = tile[127 - threadIdx.x];
}
KERNEL bulk_copies_early(const float* x, float* y) {
  __shared__ alignas(16) float tile[128];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(barrier) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::
            "r"(to),
        "l"(x), "r"(barrier)
        : "memory");
  }
  __syncthreads();
  WAIT();
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  y[element()] = tile[threadIdx.x];
}
KERNEL prefetches_to_l1(const float* x, float* y) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(x + element()) : "memory");
  WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL function_reads_early(const float* x, float* y) {
  const float value = load_in_function(x, element());
  wait_in_function();
  y[element()] = value;
}
KERNEL selects_early(const float* x, const float* other, float* y, int which) {
  const float value = at(which != 0 ? x : other, element());
  WAIT();
  y[element()] = value;
}
KERNEL array_read_early(const float* x, const float* other, float* y, int which) {
  const float* list[2] = {x, other};
  const float value = at(list[which & 1], element());
  WAIT();
  y[element()] = value;
}
KERNEL distance_read_early(const float* x, const float* other, float* y) {
  const float value = at(x, other - x);
  WAIT();
  y[element()] = value;
}
KERNEL reads_shape_early(const float* const* problem, float* y) {
  const float* x = *static_cast<const float* const volatile*>(problem);
  const float value = at(x, element());
  WAIT();
  y[element()] = value;
}
KERNEL bias_early(const float* x, float* y) {
  const float bias = *static_cast<volatile float*>(&bias_of_module);
  WAIT();
  y[element()] = x[element()] + bias;
}
KERNEL ticket_early(const float* x, float* y) {
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1);
  __syncthreads();
  WAIT();
  y[ticket * blockDim.x + threadIdx.x] = x[ticket * blockDim.x + threadIdx.x];
}
KERNEL stores_vector_early(float4* y) {
  y[element()] = float4{0, 0, 0, 0};
  WAIT();
}
KERNEL polls_flag(const volatile int* flag, const float* x, float* y) {
  while (*flag == 0) {
  }
  __threadfence();
  y[element()] = 2 * x[element()];
  WAIT();
}
KERNEL one_branch(const float* x, float* y, int which) {
  float value;
  if (which != 0) {
    WAIT();
    value = at(x, element());
  } else {
    value = at(x, element() + 1);
    WAIT();
  }
  y[element()] = value;
}
KERNEL guard_is_of_threads(const float* x, float* y, unsigned n) {
  if (element() < n) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL rows_wait(const float* x, float* y, int rows, int width) {
  const int row = static_cast<int>(element()) / width;
  if (row < rows) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL long_index_waits(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) WAIT();
  y[element()] = 2 * x[element()];
}
// cvt fills the wider register with the sign of the lower half.
KERNEL sign_decides(const float* x, float* y, long long n) {
  long long half;
  asm("cvt.s32.s64 %0, %1;" : "=l"(half) : "l"(n));
  if ((half < 0) == (n < 1ll << 32)) WAIT();
  y[element()] = 2 * x[element()];
}
KERNEL all_but_one_wait(const float* x, float* y, unsigned n) {
  if (element() != n) WAIT();
  y[element()] = 2 * x[element()];
}
