// Protocols between blocks, each right and with one order missing. They run as those of
// grid_pattern_kernels.cuh do.

#define PAIR(right, wrong, pattern)                    \
  KERNEL(right) { pattern<true>(y, x, flags, s); }     \
  KERNEL(wrong) { pattern<false>(y, x, flags, s); }

// --- Locks and barriers ---
// A queue of locks (Mellor-Crummey and Scott): who leaves hands the lock to the next in the queue.
// The first to come keeps it until all are in the queue.
PATTERN(queue_for_lock) {
  INDEX;
  if (t != 0) return;
  unsigned* const next = f + 16;
  unsigned* const waits = f + 32;
  store_relaxed(waits + b, 1);
  __threadfence();
  const unsigned before = atomicExch(f, b + 1);
  if (before != 0) {
    store_release(next + before - 1, b + 1);
    atomicAdd(f + 1, 1);
    while (load_acquire(waits + b) != 0) {
    }
  } else {
    while (load_relaxed(f + 1) != kBlocks - 1) {
    }
  }
  s[0] += x[i] + 1;
  unsigned behind = load_acquire(next + b);
  if (behind == 0) {
    __threadfence();
    if (atomicCAS(f, b + 1, 0) == b + 1) return;
    while ((behind = load_acquire(next + b)) == 0) {
    }
  }
  Right ? store_release(waits + behind - 1, 0) : store_relaxed(waits + behind - 1, 0);
}
PAIR(queues_for_lock, hands_lock_over_relaxed, queue_for_lock)
// A lock of the scope of a block does not keep other blocks out.
PATTERN(lock_by_scope) {
  INDEX;
  if (t != 0) return;
  while ((Right ? atomicCAS(f, 0, 1) : atomicCAS_block(f, 0, 1)) != 0) {
  }
  __threadfence();
  s[0] += x[i] + 1;
  __threadfence();
  Right ? atomicExch(f, 0) : atomicExch_block(f, 0);
}
PAIR(locks_for_device, locks_for_block_only, lock_by_scope)
// A barrier by rounds: in each a block tells the one that is twice as far away.
PATTERN(disseminate) {
  INDEX;
  s[i] = x[i] + 1;
  __syncthreads();
  if (t == 0) {
    for (int k = 0; k < (Right ? 2 : 1); ++k) {
      store_release(f + 16 * k + (b + (1 << k)) % kBlocks, 1);
      while (load_acquire(f + 16 * k + b) == 0) {
      }
    }
  }
  __syncthreads();
  y[i] = s[(i + 128) % 256];
}
PAIR(disseminates, disseminates_one_round_short, disseminate)
// What a block writes between its arrival and its wait belongs to the next turn.
PATTERN(arrive_and_wait) {
  INDEX;
  if (Right) s[i] = x[i] + 1;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicAdd(f, 1);
  }
  __syncthreads();
  if (!Right) s[i] = x[i] + 1;
  __syncthreads();
  if (t == 0) {
    while (load_acquire(f) != kBlocks) {
    }
  }
  __syncthreads();
  y[i] = s[i ^ 64];
}
PAIR(writes_and_arrives, arrives_and_writes, arrive_and_wait)

// --- Publishing ---
// The second look is under the lock. The first one is not, and so must acquire.
PATTERN(check_twice) {
  INDEX;
  if (t != 0) return;
  if ((Right ? load_acquire(f + 1) : load_weak(f + 1)) == 0) {
    lock(f);
    if (load_relaxed(f + 1) == 0) {
      s[0] = x[5] + 1;
      store_release(f + 1, 1);
    }
    unlock(f);
  }
  y[b] = s[0];
}
PAIR(checks_twice, checks_plainly_first, check_twice)
// A pointer to what was made. Who depends on its value is not ordered by that.
PATTERN(publish_pointer) {
  INDEX;
  if (t != 0) return;
  auto* const place = reinterpret_cast<unsigned long long*>(flags);
  if (b == 0) {
    s[7] = x[5] + 1;
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(place), "l"(s + 7) : "memory");
    return;
  }
  unsigned long long made = 0;
  while (made == 0) {
    if (Right) asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(made) : "l"(place) : "memory");
    if (!Right) asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(made) : "l"(place) : "memory");
  }
  y[b] = *reinterpret_cast<const float*>(made);
}
PAIR(publishes_pointer, follows_pointer_unordered, publish_pointer)
// Readers try again where the version changed meanwhile. What they read in vain is read strongly.
// The second version comes once all have begun to read the first one.
PATTERN(read_versions) {
  INDEX;
  if (t != 0) return;
  auto* const value = reinterpret_cast<unsigned*>(s);
  if (b == 0) {
    for (unsigned k = 1; k < 3; ++k) {
      while (k == 2 && load_relaxed(f + 1) != kBlocks - 1) {
      }
      store_relaxed(f, 2 * k - 1);
      __threadfence();
      store_relaxed(value, k);
      store_relaxed(value + 1, k);
      store_release(f, 2 * k);
    }
    return;
  }
  while (load_acquire(f) < 2) {
  }
  atomicAdd(f + 1, 1);
  unsigned before = 1, behind = 0, first = 0, second = 0;
  while (before != behind || before % 2 != 0) {
    before = load_acquire(f);
    first = Right ? load_relaxed(value) : load_weak(value);
    second = Right ? load_relaxed(value + 1) : load_weak(value + 1);
    __threadfence();
    behind = load_relaxed(f);
  }
  y[b] = static_cast<float>(first + second);
}
PAIR(reads_versions, reads_versions_plainly, read_versions)
// One warp cannot tell for another one of its block.
PATTERN(tell_by_warps) {
  INDEX;
  if (b != kBlocks - 1) {
    s[i] = x[i] + 1;
    __syncwarp();
    if (Right && t % 32 == 0) add_release(f, 1);
    if (!Right && t == 0) add_release(f, 2);
    return;
  }
  if (t == 0) {
    while (load_acquire(f) != 2 * (kBlocks - 1)) {
    }
  }
  __syncthreads();
  y[t] = s[t] + s[64 + t] + s[128 + t];
}
PAIR(tells_by_warps, tells_for_two_warps, tell_by_warps)
// A load past the first cache is as weak as any other one.
PATTERN(poll_past_cache) {
  INDEX;
  if (t != 0 || b > 1) return;
  if (b == 0) {
    s[0] = x[5] + 1;
    store_release(f, 1);
    return;
  }
  if (Right) {
    while (load_acquire(f) == 0) {
    }
  } else {
    for (int k = 0; k < 64 && __ldcg(f) == 0; ++k) {
    }
    __threadfence();
  }
  y[0] = s[0];
}
PAIR(polls_by_acquire, polls_past_cache, poll_past_cache)
// Time orders nothing.
PATTERN(wait_a_while) {
  INDEX;
  if (t != 0 || b > 1) return;
  if (b == 0) {
    s[0] = x[5] + 1;
    store_release(f, 1);
    return;
  }
  if (Right) {
    while (load_acquire(f) == 0) __nanosleep(20);
  } else {
    __nanosleep(1000);
    __threadfence();
  }
  y[0] = s[0];
}
PAIR(sleeps_until_told, sleeps_long_enough, wait_a_while)
// A flag that counts rounds tells the present one only to who compares the round.
PATTERN(reuse_flag) {
  INDEX;
  if (t != 0 || b > 1) return;
  for (unsigned k = 1; k < 4; ++k) {
    if (b == 0) {
      s[k] = x[k] + 1;
      store_release(f, k);
      while (load_acquire(f + 1) < k) {
      }
    } else {
      while (Right ? load_acquire(f) < k : load_acquire(f) == 0) {
      }
      store_release(f + 1, k);
      y[k] = s[k];
    }
  }
}
PAIR(compares_rounds, takes_flag_of_last_round, reuse_flag)
// Both neighbours have to be done before their borders are read.
PATTERN(read_borders) {
  INDEX;
  s[i] = x[i] + 1;
  __syncthreads();
  if (t == 0) {
    store_release(f + b, 1);
    while (load_acquire(f + (b + 3) % kBlocks) == 0) {
    }
    while (Right && load_acquire(f + (b + 1) % kBlocks) == 0) {
    }
  }
  __syncthreads();
  y[i] = s[(i + 255) % 256] + s[(i + 1) % 256];
}
PAIR(reads_both_borders, asks_one_neighbour, read_borders)
// The non-coherent cache may have what was there before.
PATTERN(read_through_cache) {
  INDEX;
  s[i] = x[i] + 1;
  meet(f, 1);
  y[i] = Right ? __ldcg(s + (i + 64) % 256) : __ldg(s + (i + 64) % 256);
}
PAIR(reads_coherently, reads_noncoherently, read_through_cache)

// --- Updates ---
// The sum has to be zero before the first block adds to it.
PATTERN(clear_and_add) {
  INDEX;
  if (b == 0) s[t] = 1;
  if (Right) meet(f, 1);
  atomicAdd(s + t, x[i]);
}
PAIR(clears_then_adds, clears_while_others_add, clear_and_add)
// Updates of a pair and of one of its words are not of the same bytes.
PATTERN(update_pairs) {
  INDEX;
  auto* const pairs = reinterpret_cast<unsigned long long*>(flags);
  if (Right || b != 0) {
    atomicAdd(pairs + t, 1ull << 32 | 1);
  } else {
    atomicAdd(f + 2 * t, 1);
  }
}
PAIR(updates_pairs, updates_half_of_pairs, update_pairs)

// --- Copies in bulk ---
template <bool Reduces>
__device__ void send_tile(float* to, const float* tile) {
  if (Reduces) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(
                     to),
                 "r"(shared_at(tile))
                 : "memory");
  } else {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to),
                 "r"(shared_at(tile))
                 : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ void make_tile(float* tile, const float* x) {
  tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}
template <bool All>
__device__ void wait_for_stores() {
  if (All) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  if (!All) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
// That the source was read does not make the writes visible, not even to the thread that asked.
PATTERN(read_back) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  make_tile(tile, x);
  if (t == 0) {
    send_tile<false>(s + i, tile);
    wait_for_stores<Right>();
    y[b] = s[i + 5];
  }
}
PAIR(reads_back, reads_back_behind_the_read, read_back)
PATTERN(publish_tile) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  make_tile(tile, x);
  if (t == 0) {
    send_tile<false>(s + i, tile);
    wait_for_stores<Right>();
    store_release(f + b, 1);
    while (load_acquire(f + (b + 1) % kBlocks) == 0) {
    }
  }
  __syncthreads();
  y[i] = s[(i + 64) % 256];
  if (t == 0) wait_for_stores<true>();
}
PAIR(publishes_tile, publishes_tile_behind_the_read, publish_tile)
// A block loads in bulk what threads of another one stored.
PATTERN(load_tile) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  s[i] = x[i] + 1;
  if (Right) asm volatile("fence.proxy.async;" ::: "memory");
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_at(&full)) : "memory");
  meet(f, 1);
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_at(&full))
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::
            "r"(shared_at(tile)),
        "l"(s + (b + 1) % kBlocks * 64), "r"(shared_at(&full))
        : "memory");
  }
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::"r"(
          shared_at(&full))
      : "memory");
  y[i] = tile[t];
}
PAIR(loads_tile, loads_tile_unfenced, load_tile)
// All add their tiles to one. A plain copy among them overwrites.
PATTERN(add_tiles) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  make_tile(tile, x);
  if (t != 0) return;
  Right || b != 1 ? send_tile<true>(s, tile) : send_tile<false>(s, tile);
  wait_for_stores<true>();
}
PAIR(adds_tiles, stores_tile_among_adders, add_tiles)

// --- In clusters of two blocks ---
// A relaxed arrival at the cluster's barrier does not release what was written.
PATTERN(meet_in_cluster) {
  INDEX;
  s[i] = x[i] + 1;
  if (Right) asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  if (!Right) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  y[i] = s[i ^ 64];
}
PAIR(meets_in_cluster, meets_in_cluster_relaxed, meet_in_cluster)
#undef PAIR

// --- A lock whose waiters are a queue: each block polls a word of its own ---
// f[0] is the last block of the queue plus 1; f[16 + n] is who comes after n, f[32 + n] says wait.
template <bool Orders>
__device__ void add_behind_queue_lock(unsigned* f, float* s) {
  const unsigned own = blockIdx.x + 1;
  const auto fence = [] {
    if (Orders) __threadfence();
  };
  store_relaxed(f + 16 + own, 0);
  store_relaxed(f + 32 + own, 1);
  fence();
  const unsigned before = atomicExch(f, own);
  fence();
  if (before != 0) {
    store_relaxed(f + 16 + before, own);
    while (load_relaxed(f + 32 + own) != 0) {
    }
  }
  fence();
  s[0] += 1;
  fence();
  if (load_relaxed(f + 16 + own) == 0) {
    if (atomicCAS(f, own, 0u) == own) return;
    while (load_relaxed(f + 16 + own) == 0) {
    }
  }
  store_relaxed(f + 32 + load_relaxed(f + 16 + own), 0);
}
KERNEL(adds_behind_queue_lock) { INDEX; if (t == 0) add_behind_queue_lock<true>(f, s); y[i] = x[i]; }
KERNEL(adds_behind_queue_lock_unfenced) {
  INDEX;
  if (t == 0) add_behind_queue_lock<false>(f, s);
  y[i] = x[i];
}

// --- A list of nodes, each of which a block pushes; the last block pops all ---
template <bool Orders>
__device__ void push_and_pop(unsigned* f, float* s, float* y) {
  const unsigned own = blockIdx.x + 1;
  s[own] = 5.0f * static_cast<float>(own);
  for (unsigned top = load_relaxed(f);;) {
    store_relaxed(f + 16 + own, top);
    if (Orders) __threadfence();
    const unsigned seen = atomicCAS(f, top, own);
    if (seen == top) break;
    top = seen;
  }
  if (blockIdx.x + 1 != gridDim.x) return;
  for (unsigned count = 0; count < gridDim.x;) {
    const unsigned top = load_relaxed(f);
    if (top == 0) continue;
    if (Orders) __threadfence();
    if (atomicCAS(f, top, load_relaxed(f + 16 + top)) != top) continue;
    if (Orders) __threadfence();
    y[count++] = s[top];
  }
}
KERNEL(pops_what_blocks_pushed) { INDEX; if (t == 0) push_and_pop<true>(f, s, y); }
KERNEL(pops_what_blocks_pushed_unfenced) { INDEX; if (t == 0) push_and_pop<false>(f, s, y); }
