// Kernels whose lanes exchange through shared memory. Fences, arrivals, copies and waits of all
// lanes stand between, which order no lane after another one.

template <class Between>
__device__ void exchange_in_warp(float* y, const float* x, Between between) {
  INDEX;
  __shared__ float s[256];
  s[128 + t] = 0;
  s[t] = x[i];
  between(s);
  y[i] = s[t ^ 1];
}
KERNEL lanes_fence(float* y, const float* x) {
  exchange_in_warp(y, x, [](float*) { __threadfence_block(); });
}
KERNEL lanes_fence_and_meet(float* y, const float* x) {
  exchange_in_warp(y, x, [](float*) {
    __threadfence_block();
    __syncwarp();
  });
}
KERNEL lanes_meet_and_fence(float* y, const float* x) {
  exchange_in_warp(y, x, [](float*) {
    __syncwarp();
    __threadfence_block();
  });
}
KERNEL lanes_copy_elsewhere(float* y, const float* x) {
  exchange_in_warp(y, x, [x](float* s) { copy_async(s + 128 + threadIdx.x, x + threadIdx.x); });
  wait_copies<0>();
}
KERNEL lanes_copy_elsewhere_and_meet(float* y, const float* x) {
  exchange_in_warp(y, x, [x](float* s) {
    copy_async(s + 128 + threadIdx.x, x + threadIdx.x);
    __syncwarp();
  });
  wait_copies<0>();
}
KERNEL lanes_meet_in_quarters(float* y, const float* x) {
  exchange_in_warp(y, x, [](float*) {
    __threadfence_block();
    __syncwarp(0xffu << (threadIdx.x % 32 / 8 * 8));
  });
}
// Each lane arrives, and waits for no other.
template <bool Waits>
__device__ void arrive_in_warp(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 128);
  __syncthreads();
  s[t] = x[i];
  arrive_at(&full);
  if (Waits) wait_for(&full, 0);
  y[i] = s[t ^ 1];
}
KERNEL lanes_arrive(float* y, const float* x) { arrive_in_warp<false>(y, x); }
KERNEL lanes_arrive_and_wait(float* y, const float* x) { arrive_in_warp<true>(y, x); }
// Lanes of one half of the warp meet, and read what the other half wrote.
template <int Distance>
__device__ void meet_by_halves(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  if (t % 32 < 16) __syncwarp(0xffff);
  __threadfence_block();
  if (t % 32 < 16) y[i] = s[t ^ Distance];
}
KERNEL lanes_meet_by_halves(float* y, const float* x) { meet_by_halves<1>(y, x); }
KERNEL lanes_read_other_half(float* y, const float* x) { meet_by_halves<16>(y, x); }
// All store one value, and so each of them knows it.
KERNEL lanes_store_one_value(float* y, const float* x) {
  INDEX;
  __shared__ float s[4];
  s[t / 32] = 7;
  __threadfence_block();
  y[i] = s[t / 32] + x[i];
}
// A sum by halves with fences in place of barriers.
KERNEL lanes_sum_by_fences(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  for (int k = 16; k > 0; k /= 2) {
    __threadfence_block();
    if (t % 32 < k) s[t] += s[t + k];
  }
  if (t % 32 == 0) y[i] = s[t];
}

// --- Copies of the lanes ---
template <class Between>
__device__ void copy_over(float* y, const float* x, Between between) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncwarp();
  const float before = s[t ^ 1];
  between();
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  y[i] = before + s[t];
}
KERNEL copies_over_what_lanes_read(float* y, const float* x) {
  copy_over(y, x, [] {});
}
KERNEL copies_over_what_lanes_read_behind_fence(float* y, const float* x) {
  copy_over(y, x, [] { __threadfence_block(); });
}
KERNEL copies_over_what_lanes_read_once_met(float* y, const float* x) {
  copy_over(y, x, [] { __syncwarp(); });
}
// A lane copies over what another one stored.
template <bool Meets>
__device__ void copy_over_store(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t ^ 1] = 0;
  if (Meets) __syncwarp();
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  __syncwarp();
  y[i] = s[t];
}
KERNEL copies_over_what_lanes_stored(float* y, const float* x) { copy_over_store<false>(y, x); }
KERNEL copies_over_what_lanes_stored_once_met(float* y, const float* x) {
  copy_over_store<true>(y, x);
}
// Who waits for copies knows its own.
template <bool Meets>
__device__ void copy_for_neighbour(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  if (Meets) __syncwarp();
  y[i] = s[t ^ 1];
}
KERNEL copies_and_reads_of_neighbour(float* y, const float* x) { copy_for_neighbour<false>(y, x); }
KERNEL copies_and_reads_of_neighbour_once_met(float* y, const float* x) {
  copy_for_neighbour<true>(y, x);
}
// Two stages of a warp's own, without its barrier where each lane reads its own words.
template <int Distance, bool MeetsAgain>
__device__ void copy_in_turns(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][128];
  float sum = 0;
  copy_async(&s[0][t], x + i);
  commit_copies();
  for (int k = 1; k <= 4; ++k) {
    if (k < 4) copy_async(&s[k % 2][t], x + i);
    commit_copies();
    wait_copies<1>();
    if (Distance != 0) __syncwarp();
    sum += s[(k - 1) % 2][t ^ Distance];
    if (MeetsAgain) __syncwarp();
  }
  y[i] = sum;
}
KERNEL copies_in_turns(float* y, const float* x) { copy_in_turns<1, true>(y, x); }
KERNEL copies_in_turns_each_lane(float* y, const float* x) { copy_in_turns<0, false>(y, x); }
KERNEL copies_in_turns_too_early(float* y, const float* x) { copy_in_turns<1, false>(y, x); }
// One lane copies out what all of them stored.
template <bool Meets>
__device__ void store_bulk_of_lanes(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  s[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (Meets) __syncwarp();
  if (t % 32 == 0) {
    store_bulk(y + i, s + t, 128);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
KERNEL lanes_store_bulk_unmet(float* y, const float* x) { store_bulk_of_lanes<false>(y, x); }
KERNEL lanes_store_bulk(float* y, const float* x) { store_bulk_of_lanes<true>(y, x); }
