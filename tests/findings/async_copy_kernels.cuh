// Asynchronous copies.

// --- Asynchronous copies ---
__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void copy_async(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address_of(to)), "l"(from)
               : "memory");
}
__device__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int Left>
__device__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
__device__ void init_mbarrier(unsigned long long* mbarrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(mbarrier)), "r"(count)
               : "memory");
}
__device__ void arrive_at(unsigned long long* mbarrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(mbarrier)) : "memory");
}
__device__ void wait_for(unsigned long long* mbarrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::
          "r"(address_of(mbarrier)),
      "r"(parity)
      : "memory");
}
__device__ void expect_bytes(unsigned long long* mbarrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(mbarrier)),
               "r"(bytes)
               : "memory");
}
__device__ void send_bulk(float* to, const float* from, unsigned bytes,
                          unsigned long long* mbarrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(address_of(to)),
      "l"(from), "r"(bytes), "r"(address_of(mbarrier))
      : "memory");
}
__device__ void copy_bulk(float* to, const float* from, unsigned bytes,
                          unsigned long long* mbarrier) {
  expect_bytes(mbarrier, bytes);
  send_bulk(to, from, bytes, mbarrier);
}
__device__ void store_bulk(float* to, const float* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(address_of(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
KERNEL copies(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t ^ 64];
}
KERNEL copies_never_waited_for(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  copy_async(s + t, x + i);
  commit_copies();
  __syncthreads();
  y[i] = s[t ^ 64];
}
KERNEL copies_waited_for_too_late(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  copy_async(s + t, x + i);
  commit_copies();
  __syncthreads();  // and only then each thread waits, for its own copy alone
  wait_copies<0>();
  y[i] = s[t ^ 64];
}
template <int Left>
__device__ void copy_stages(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][128];
  s[0][t] = s[1][t] = 0;
  __syncthreads();
  copy_async(&s[0][t], x + i);
  commit_copies();
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    copy_async(&s[(k + 1) & 1][t], x + i);
    commit_copies();
    wait_copies<Left>();
    __syncthreads();
    sum += s[k & 1][t ^ 64];
    __syncthreads();
  }
  wait_copies<0>();
  y[i] = sum;
}
KERNEL copies_stages(float* y, const float* x) { copy_stages<1>(y, x); }
KERNEL copies_one_group_short(float* y, const float* x) { copy_stages<2>(y, x); }
KERNEL copies_bulk(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
}
KERNEL copies_bulk_unwaited(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  s[t] = 0;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  if (t < 64) wait_for(&full, 0);
  y[i] = s[t ^ 64];
  __syncthreads();
}
// One thread fills two stages in turn, all others empty them.
KERNEL copies_bulk_stages(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[2][128];
  __shared__ unsigned long long full[2], empty[2];
  if (t == 0) {
    for (int k = 0; k < 2; ++k) {
      init_mbarrier(&full[k], 1);
      init_mbarrier(&empty[k], 96);
    }
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    const int stage = k & 1;
    const unsigned parity = (k / 2) & 1;
    if (t == 0) {
      if (k >= 2) wait_for(&empty[stage], parity ^ 1);
      copy_bulk(s[stage], x + blockIdx.x * 128, 512, &full[stage]);
    } else if (t >= 32) {
      wait_for(&full[stage], parity);
      sum += s[stage][t];
      arrive_at(&empty[stage]);
    }
  }
  y[i] = sum;
}
KERNEL copies_bulk_over_readers(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full[2];
  if (t < 2) init_mbarrier(&full[t], 1);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 2; ++k) {  // the second copy comes while others may still read the first
    if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full[k]);
    wait_for(&full[k], 0);
    sum += s[t ^ 64];
  }
  y[i] = sum;
}
KERNEL copies_bulk_out(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  for (int k = 0; k < 2; ++k) {
    s[t] = x[i] + static_cast<float>(k);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(
                       y + blockIdx.x * 128),
                   "r"(address_of(s))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL copies_bulk_out_overwritten(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  for (int k = 0; k < 2; ++k) {
    s[t] = x[i] + static_cast<float>(k);  // the copy out may still read it
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(
                       y + blockIdx.x * 128),
                   "r"(address_of(s))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL copies_early(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) {
    WAIT;
    copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  }
  wait_for(&full, 0);
  y[i] = s[t ^ 64] + x[i];  // the mbarrier orders it after the wait
}
KERNEL copies_first(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  WAIT;
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
}
KERNEL copies_thread_first(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  WAIT;
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t ^ 64];
}

// Warp 0 waits and fills a ring of three stages by bulk copies, warps 1 and 2 add them up, warp 3
// writes what they found: as pipelines in CUTLASS do. What each has to wait for can be left out.
enum class Ring { kRight, kReleasesEarly, kOneReleases, kReadsBiasFirst };
template <Ring Kind>
__device__ void run_ring(float* y, const float* x, const float* bias) {
  constexpr int kStages = 3, kTurns = 8, kFloats = 32;
  INDEX;
  __shared__ alignas(128) float s[kStages][kFloats];
  __shared__ unsigned long long full[kStages], empty[kStages];
  __shared__ float sums[2][kFloats];
  const int warp = t / 32, lane = t % 32;
  if (t == 0) {
    for (int k = 0; k < kStages; ++k) {
      init_mbarrier(&full[k], 1);
      init_mbarrier(&empty[k], Kind == Ring::kOneReleases ? 1 : 2);
    }
  }
  __syncthreads();
  if (warp == 0) {
    if (lane != 0) return;
    WAIT;
    for (int k = 0; k < kTurns; ++k) {
      if (k >= kStages) wait_for(&empty[k % kStages], (k / kStages - 1) & 1);
      copy_bulk(s[k % kStages], x + k * kFloats, kFloats * 4, &full[k % kStages]);
    }
  } else if (warp < 3) {
    float sum = 0;
    for (int k = 0; k < kTurns; ++k) {
      const int stage = k % kStages;
      wait_for(&full[stage], (k / kStages) & 1);
      const bool releases = lane == 0 && (Kind != Ring::kOneReleases || warp == 1);
      if (Kind == Ring::kReleasesEarly && releases) arrive_at(&empty[stage]);
      sum += s[stage][lane] * static_cast<float>(warp);
      __syncwarp();
      if (Kind != Ring::kReleasesEarly && releases) arrive_at(&empty[stage]);
    }
    sums[warp - 1][lane] = sum;
    leave_at(3, 96);
  } else {
    const float first = Kind == Ring::kReadsBiasFirst ? bias[lane] : 0;
    meet(3, 96);
    y[blockIdx.x * 32 + lane] = sums[0][lane] + sums[1][lane] + bias[lane] + first;
  }
}
#define RING(name, kind) \
  KERNEL name(float* y, const float* x, const float* bias) { run_ring<kind>(y, x, bias); }
RING(ring, Ring::kRight)
RING(ring_releases_early, Ring::kReleasesEarly)
RING(ring_one_releases, Ring::kOneReleases)
RING(ring_reads_bias_first, Ring::kReadsBiasFirst)
