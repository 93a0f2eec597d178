// Kernels about sources of asynchronous copies, discarded memory and waits that may come back early,
// each right and wrong. They run as those of grid_pattern_kernels.cuh do.

#define PAIR(right, wrong, pattern)                    \
  KERNEL(right) { pattern<true>(y, x, flags, s); }     \
  KERNEL(wrong) { pattern<false>(y, x, flags, s); }

// --- What discard destroys ---
__device__ void discard_line(float* line) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(line) : "memory");
}
// Every block works in two lines of its own, and leaves them behind.
PATTERN(discard_scratch) {
  INDEX;
  s[i] = x[i] + 1;
  __syncthreads();
  y[i] = s[i ^ 1];
  if (Right) __syncthreads();
  if (t % 32 == 0) discard_line(s + (Right ? i : i ^ 32));
}
PAIR(discards_scratch, discards_scratch_of_readers, discard_scratch)
// The next block's lines are not to be discarded before it has read them.
PATTERN(discard_of_other_block) {
  INDEX;
  if (b == 0) y[t] = s[t];
  if (b == 1 && t == 0) {
    while (Right && load_acquire(f) == 0) {
    }
    discard_line(s);
    discard_line(s + 32);
  }
  __syncthreads();
  if (b == 0 && t == 0) store_release(f, 1);
}
PAIR(discards_when_told, discards_untold, discard_of_other_block)
// What was discarded has a value only once it is written again.
PATTERN(discard_and_read) {
  INDEX;
  if (t % 32 == 0) discard_line(s + i);
  __syncthreads();
  if (Right) s[i] = x[i];
  __syncthreads();
  y[i] = s[i ^ 32];
}
PAIR(discards_and_writes, discards_and_reads, discard_and_read)
// Two warps may discard one line.
KERNEL(discards_twice) {
  INDEX;
  if (t % 32 == 0) discard_line(s + 64 * b);
}
PATTERN(discard_beside) {
  INDEX;
  if (t == 0) discard_line(s + 64 * b);
  if (t == 32) s[64 * b + (Right ? 32 : 31)] = x[i];
}
PAIR(discards_beside_writer, discards_what_is_written, discard_beside)
KERNEL(discards_what_is_counted) {
  INDEX;
  if (t != 0) return;
  if (b != 0) atomicAdd(f, 1);
  if (b == 0) discard_line(flags);
}

// --- Sources of cp.async ---
__device__ void copy_16(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_at(to)), "l"(from)
               : "memory");
}
__device__ void copy_16_of(float* to, const float* from, unsigned bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_at(to)), "l"(from),
               "r"(bytes)
               : "memory");
}
__device__ void copy_4(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_at(to)), "l"(from)
               : "memory");
}
__device__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Left>
__device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
PATTERN(overwrite_source) {
  INDEX;
  __shared__ float tile[kThreads];
  copy_4(tile + t, s + i);
  commit_group();
  if (Right) wait_group<0>();
  s[i] = x[i];
  wait_group<0>();
  __syncthreads();
  y[i] = tile[t ^ 1];
}
PAIR(overwrites_read_source, overwrites_source, overwrite_source)
// A barrier waits for threads, not for what they copy.
PATTERN(overwrite_source_of_other_warp) {
  INDEX;
  __shared__ float tile[kThreads];
  copy_4(tile + t, s + i);
  commit_group();
  if (Right) wait_group<0>();
  __syncthreads();
  s[i ^ 32] = x[i];
  wait_group<0>();
  __syncthreads();
  y[i] = tile[t ^ 1];
}
PAIR(overwrites_source_behind_wait, overwrites_source_behind_barrier, overwrite_source_of_other_warp)
KERNEL(overwrites_second_group) {
  INDEX;
  __shared__ float tile[2 * kThreads];
  if (b != 0) return;
  copy_4(tile + t, s + t);
  commit_group();
  copy_4(tile + kThreads + t, s + 64 + t);
  commit_group();
  wait_group<1>();
  s[64 + t] = x[i];
  wait_group<0>();
  y[i] = tile[t] + tile[kThreads + t];
}
KERNEL(overwrites_first_group) {
  INDEX;
  __shared__ float tile[2 * kThreads];
  if (b != 0) return;
  copy_4(tile + t, s + t);
  commit_group();
  copy_4(tile + kThreads + t, s + 64 + t);
  commit_group();
  wait_group<1>();
  s[t] = x[i];
  wait_group<0>();
  y[i] = tile[t] + tile[kThreads + t];
}
__device__ void make_mbarrier(unsigned long long* mbarrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_at(mbarrier)), "r"(count)
               : "memory");
}
__device__ void arrive_behind_copies(unsigned long long* mbarrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_at(mbarrier))
               : "memory");
}
__device__ void arrive_now(unsigned long long* mbarrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_at(mbarrier)) : "memory");
}
__device__ bool try_once(unsigned long long* mbarrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
      : "=r"(done)
      : "r"(shared_at(mbarrier)), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ bool test_once(unsigned long long* mbarrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
      : "=r"(done)
      : "r"(shared_at(mbarrier)), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ void await(unsigned long long* mbarrier, unsigned parity) {
  while (!try_once(mbarrier, parity)) {
  }
}
PATTERN(overwrite_behind_arrival) {
  INDEX;
  __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) make_mbarrier(&full, 32);
  __syncthreads();
  if (t < 32) {
    copy_4(tile + t, s + i);
    Right ? arrive_behind_copies(&full) : arrive_now(&full);
    wait_group<0>();
  } else {
    await(&full, 0);
    s[i - 32] = x[i];
  }
}
PAIR(overwrites_behind_arrival_of_copies, overwrites_behind_arrival, overwrite_behind_arrival)
// Where nothing is read, nothing is overwritten.
PATTERN(overwrite_behind_source) {
  INDEX;
  __shared__ alignas(16) float tile[4 * kThreads];
  if (t < 16) {
    copy_16_of(tile + 4 * t, s + 64 * b + 4 * t, Right ? 8 : 12);
    commit_group();
  } else if (t >= 32 && t < 48) {
    s[64 * b + 4 * (t - 32) + 2] = x[i];
    s[64 * b + 4 * (t - 32) + 3] = x[i];
  }
  wait_group<0>();
}
PAIR(overwrites_what_is_not_read, overwrites_end_of_source, overwrite_behind_source)
KERNEL(overwrites_what_is_filled_with_zeros) {
  INDEX;
  __shared__ alignas(16) float tile[4 * kThreads];
  if (t < 16) {
    copy_16_of(tile + 4 * t, s + 64 * b + 4 * t, 0);
    commit_group();
  } else if (t >= 32) {
    s[i] = x[i];
  }
  wait_group<0>();
}
// Another block overwrites what it is told was read.
PATTERN(tell_of_copy) {
  INDEX;
  __shared__ alignas(16) float tile[kThreads];
  if (b == 0 && t < 16) {
    copy_16(tile + 4 * t, s + 4 * t);
    commit_group();
    if (Right) wait_group<0>();
    __syncwarp(0xffff);
    if (t == 0) store_release(f, 1);
    wait_group<0>();
  }
  if (b == 1 && t == 0) {
    while (load_acquire(f) == 0) {
    }
    s[5] = x[5];
  }
}
PAIR(tells_of_copy_that_is_over, tells_of_copy_under_way, tell_of_copy)

// --- Waits that may come back early ---
template <bool Right, bool (*Try)(unsigned long long*, unsigned)>
__device__ void wait_once(float* y, const float* x) {
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  tile[t] = 0;
  if (t == 0) make_mbarrier(&full, 32);
  __syncthreads();
  if (t < 32) {
    tile[t] = x[i];
    arrive_now(&full);
  } else {
    while (!Try(&full, 0) && Right) {
    }
    y[i] = tile[t - 32];
  }
}
KERNEL(tries_until_over) { wait_once<true, try_once>(y, x); }
KERNEL(tries_once) { wait_once<false, try_once>(y, x); }
KERNEL(tests_until_over) { wait_once<true, test_once>(y, x); }
KERNEL(tests_once) { wait_once<false, test_once>(y, x); }
// Who is told that it is over may read; who is not does without.
PATTERN(read_if_over) {
  INDEX;
  __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  tile[t] = 0;
  if (t == 0) make_mbarrier(&full, 32);
  __syncthreads();
  if (t < 32) {
    tile[t] = x[i];
    arrive_now(&full);
  } else if (try_once(&full, 0) || !Right) {
    y[i] = tile[t - 32];
  }
}
PAIR(reads_if_over, reads_if_over_or_not, read_if_over)
// A test is sure to succeed where all arrivals are known.
KERNEL(tests_once_behind_barrier) {
  INDEX;
  __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) make_mbarrier(&full, 32);
  __syncthreads();
  if (t < 32) tile[t] = x[i];
  if (t < 32) arrive_now(&full);
  __syncthreads();
  if (!test_once(&full, 0)) __trap();
  y[i] = tile[31 - t % 32];
}
KERNEL(tests_once_what_it_awaited) {
  INDEX;
  __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) make_mbarrier(&full, 32);
  __syncthreads();
  if (t < 32) tile[t] = x[i];
  if (t < 32) arrive_now(&full);
  if (t >= 32) {
    await(&full, 0);
    if (!test_once(&full, 0)) __trap();
    y[i] = tile[t - 32];
  }
}
KERNEL(tests_its_own_arrival) {
  INDEX;
  __shared__ unsigned long long full;
  if (t == 5) {
    make_mbarrier(&full, 1);
    arrive_now(&full);
    if (!test_once(&full, 0)) __trap();
  }
  y[i] = x[i];
}
// As consumers of CUTLASS do it: look first, wait where it was too early.
KERNEL(peeks_and_waits) {
  INDEX;
  __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) make_mbarrier(&full, 32);
  __syncthreads();
  if (t < 32) {
    tile[t] = x[i];
    arrive_now(&full);
  } else {
    const bool is_over = try_once(&full, 0);
    const float mine = x[i];
    if (!is_over) await(&full, 0);
    y[i] = tile[t - 32] + mine;
  }
}
// Several mbarriers in turn, whichever is over first.
KERNEL(polls_two_mbarriers) {
  INDEX;
  __shared__ float tile[2];
  __shared__ unsigned long long full[2];
  if (t < 2) make_mbarrier(full + t, 1);
  __syncthreads();
  if (t < 32) {
    if (t < 2) {
      tile[t] = x[i];
      arrive_now(full + t);
    }
  } else if (t == 32) {
    unsigned done = 0;
    float sum = 0;
    while (done != 3) {
      for (unsigned k = 0; k < 2; ++k) {
        if ((done >> k & 1) != 0 || !test_once(full + k, 0)) continue;
        done |= 1u << k;
        sum += tile[k];
      }
    }
    y[i] = sum;
  }
}
PATTERN(load_and_try) {
  INDEX;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) make_mbarrier(&full, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_at(&full))
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::
            "r"(shared_at(tile)),
        "l"(x + 64 * b), "r"(shared_at(&full))
        : "memory");
  }
  while (!try_once(&full, 0) && Right) {
  }
  y[i] = tile[t];
  await(&full, 0);
}
PAIR(loads_and_waits, loads_and_tries, load_and_try)

// --- Who waits for whose copies ---
// A thread waits for what it asked for itself.
PATTERN(wait_by_one_lane) {
  INDEX;
  __shared__ float tile[kThreads];
  tile[t] = 0;
  __syncwarp();
  if (t % 32 < 2) {
    if (t % 32 == 0) {
      copy_4(tile + t, x + i);
      commit_group();
    } else {
      copy_4(tile + t, x + i);
      commit_group();
    }
    if (Right || t % 32 == 0) wait_group<0>();
  }
  __syncwarp();
  y[i] = tile[t & 33];
  wait_group<0>();
}
PAIR(waits_in_both_lanes, waits_in_one_lane, wait_by_one_lane)
PATTERN(store_by_two_lanes) {
  INDEX;
  __shared__ alignas(128) float tile[kThreads];
  tile[t] = x[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t < 2) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(
                     s + 64 * b + 32 * t),
                 "r"(shared_at(tile + 32 * t))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  if (t < (Right ? 2 : 1)) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  __syncthreads();
  tile[t] = 0;
  if (t < 2) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
PAIR(stores_by_two_lanes, stores_by_two_lanes_and_waits_in_one, store_by_two_lanes)
// Boundaries of tiles: other lanes copy in each turn, and all wait.
KERNEL(copies_up_to_bounds) {
  INDEX;
  __shared__ float tile[kThreads];
  float sum = 0;
  for (int k = 1; k < 20; ++k) {
    if (t < 3 * k) copy_4(tile + t, x + i);
    commit_group();
    wait_group<0>();
    __syncthreads();
    sum += tile[(t ^ 32) % (3 * k)];
    __syncthreads();
  }
  y[i] = sum;
}
KERNEL(copies_up_to_bounds_in_two_stages) {
  INDEX;
  __shared__ float tile[2][kThreads];
  float sum = 0;
  if (t < 60) copy_4(&tile[0][t], x + i);
  commit_group();
  for (int k = 1; k < 20; ++k) {
    if (t < 60 - k) copy_4(&tile[k % 2][t], x + i);
    commit_group();
    wait_group<1>();
    __syncthreads();
    sum += tile[(k + 1) % 2][t % (61 - k)];
    __syncthreads();
  }
  wait_group<0>();
  y[i] = sum;
}
