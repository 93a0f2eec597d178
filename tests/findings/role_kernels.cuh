// Roles of warps, lanes and blocks that order each other in unusual ways, each right and wrong.

#define SYNC_AT(id, threads) asm volatile("bar.sync " #id ", " #threads ";" ::: "memory")
#define ARRIVE_AT(id, threads) asm volatile("bar.arrive " #id ", " #threads ";" ::: "memory")

// --- Named barriers. Blocks of 128 threads ---
// Who only arrives is not told what others did.
PATTERN(arrive_and_read) {
  INDEX;
  __shared__ float tile[128];
  tile[t] = 0;
  __syncthreads();
  tile[t] = x[i] + 1;
  if (t < 64) {
    if (Right) SYNC_AT(1, 128);
    if (!Right) ARRIVE_AT(1, 128);
    y[i] = tile[t + 64];
  } else {
    SYNC_AT(1, 128);
  }
}
PAIR(meets_and_reads, arrives_and_reads, arrive_and_read)
// A barrier of two warps, after which they arrive at one of all, tells the others of both.
KERNEL(tells_other_pair) {
  INDEX;
  __shared__ float tile[128];
  tile[t] = x[i];
  if (t < 64) {
    SYNC_AT(1, 64);
    ARRIVE_AT(2, 128);
  } else {
    SYNC_AT(2, 128);
  }
  y[i] = t < 64 ? tile[t ^ 32] : tile[t - 64];
}
PATTERN(reduce_in_barrier) {
  INDEX;
  __shared__ float tile[128];
  tile[t] = 0;
  __syncthreads();
  tile[t] = x[i] + 1;
  unsigned any = 0;
  if (Right || t >= 32) {
    asm volatile(
        "{.reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, 1, %2, p; selp.u32 %0, 1, 0, q;}"
        : "=r"(any)
        : "r"(t), "n"(Right ? 128 : 96)
        : "memory");
  }
  y[i] = tile[t ^ 96] + static_cast<float>(any);
}
PAIR(reduces_in_barrier, reduces_in_barrier_of_three, reduce_in_barrier)
// A ring of two stages between two producer warps and two consumer warps.
PATTERN(run_two_stages) {
  INDEX;
  __shared__ float tile[2][64];
  const int w = t % 64;
  if (t < 64) {
    for (int k = 0; k < 4; ++k) {
      if (k == 2) SYNC_AT(3, 128);
      if (k == 3) SYNC_AT(4, 128);
      tile[k % 2][w] = x[64 * k % 256 + w];
      if (k % 2 == 0) ARRIVE_AT(1, 128);
      if (k % 2 == 1) ARRIVE_AT(2, 128);
    }
  } else {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      if (k % 2 == 0) SYNC_AT(1, 128);
      if (k % 2 == 1) SYNC_AT(2, 128);
      if (Right) sum += tile[k % 2][w ^ 32];
      if (k == 0) ARRIVE_AT(3, 128);
      if (k == 1) ARRIVE_AT(4, 128);
      if (!Right) sum += tile[k % 2][w ^ 32];
    }
    y[64 * b + w] = sum;
  }
}
PAIR(runs_two_stages, frees_stage_before_it_reads, run_two_stages)

// --- Lanes ---
__device__ bool is_elected() {
  unsigned chosen;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(chosen));
  return chosen != 0;
}
PATTERN(elect_writer) {
  INDEX;
  __shared__ float value[4];
  if (t < 4) value[t] = 0;
  __syncthreads();
  if (is_elected()) value[t / 32] = x[i] + 1;
  if (Right) __syncwarp();
  y[i] = value[t / 32];
}
PAIR(elects_writer, elects_writer_without_barrier, elect_writer)
// redux is not a barrier.
PATTERN(reduce_in_registers) {
  INDEX;
  __shared__ float tile[kThreads];
  tile[t] = x[i];
  const unsigned sum = __reduce_add_sync(0xffffffff, static_cast<unsigned>(t));
  if (Right) __syncwarp();
  y[i] = tile[t ^ 1] + static_cast<float>(sum);
}
PAIR(reduces_and_syncs, reduces_in_place_of_barrier, reduce_in_registers)
PATTERN(match_lanes) {
  INDEX;
  s[i] = x[i];
  const unsigned peers = __match_any_sync(0xffffffff, t / 2);
  if (Right) __syncwarp(peers);
  y[i] = s[i ^ 1];
}
PAIR(matches_and_syncs, matches_in_place_of_barrier, match_lanes)
// A barrier of half of the warp.
PATTERN(sync_quarters) {
  INDEX;
  s[i] = x[i];
  __syncwarp(0xffu << (t % 32 / 8 * 8));
  y[i] = s[i ^ (Right ? 4 : 8)];
}
PAIR(syncs_quarters, syncs_quarters_and_reads_beyond, sync_quarters)
// As before Volta: each step is volatile, and none is ordered with the next one. No access is weak.
KERNEL(sums_by_volatile_steps) {
  INDEX;
  __shared__ float tile[kThreads];
  volatile float* const v = tile + (t & 32);
  const int lane = t % 32;
  v[lane] = x[i];
  for (int half = 16; half > 0; half /= 2) {
    const float sum = v[lane] + v[(lane + half) % 32];
    v[lane] = sum;
  }
  y[i] = v[lane];
}
// ldmatrix reads what other lanes stored.
PATTERN(load_rows) {
  INDEX;
  __shared__ alignas(16) unsigned short tile[2][64];
  auto* const mine = tile[t / 32];
  mine[2 * (t % 32)] = static_cast<unsigned short>(t);
  mine[2 * (t % 32) + 1] = static_cast<unsigned short>(t);
  if (Right) __syncwarp();
  unsigned out;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(out)
               : "r"(shared_at(mine + 8 * (t % 8)))
               : "memory");
  y[i] = static_cast<float>(out);
}
PAIR(loads_rows, loads_rows_of_other_lanes, load_rows)
// Lanes of one warp, in global memory, by different paths.
PATTERN(part_in_two) {
  INDEX;
  if (t % 32 < 16) {
    s[i] = x[i];
    if (Right) __syncwarp();
  } else {
    if (Right) __syncwarp();
    y[i] = s[i - 16];
  }
}
PAIR(parts_and_meets, parts_and_reads, part_in_two)
// One lane is told, and the others are not before the barrier of their warp.
PATTERN(poll_by_one_lane) {
  INDEX;
  if (b == 0) {
    s[t] = x[i];
    __syncthreads();
    if (t == 0) store_release(f, 1);
  } else if (t < 32) {
    if (t == 7) {
      while (load_acquire(f) == 0) {
      }
    }
    if (Right) __syncwarp();
    y[i] = s[t];
  }
}
PAIR(polls_by_one_lane, polls_by_one_lane_alone, poll_by_one_lane)

// --- Sizes and strengths ---
PATTERN(add_vectors) {
  INDEX;
  if (t % 4 == 0) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(s + 4 * (t / 4)),
                 "f"(x[i])
                 : "memory");
  }
  if (b == 3 && t == 63) {
    if (Right) atomicAdd(s + 2, 1.0f);
    if (!Right) s[2] = 1;
  }
}
PAIR(adds_vectors_and_words, adds_vectors_beside_store, add_vectors)
PATTERN(store_strongly) {
  INDEX;
  if (t != 0) return;
  if (b == 0) store_relaxed(f, 1);
  if (b == 1) y[0] = static_cast<float>(Right ? load_relaxed(f) : load_weak(f));
}
PAIR(stores_and_reads_strongly, stores_strongly_and_reads_weakly, store_strongly)
PATTERN(mix_volatile) {
  INDEX;
  if (t != 0) return;
  if (b == 0) store_volatile(f, 1);
  if (b == 1) {
    unsigned value;
    if (Right) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(f));
    if (!Right) asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(f));
    y[0] = static_cast<float>(value);
  }
}
PAIR(mixes_volatile_and_relaxed, mixes_volatile_and_narrow, mix_volatile)
PATTERN(exchange_pair) {
  INDEX;
  if (t != 0) return;
  auto* const pair = reinterpret_cast<unsigned long long*>(flags);
  if (b == 0) atomicExch(pair, 0x100000001ull);
  if (b == 1 && Right) atomicAdd(pair, 1ull);
  if (b == 1 && !Right) atomicAdd(f + 1, 1u);
}
PAIR(exchanges_pair, updates_word_of_pair, exchange_pair)
// Sixteen bytes reach over the end of four.
PATTERN(overlap_vectors) {
  INDEX;
  if (t == 0) *reinterpret_cast<float4*>(s + 64 * b) = float4{1, 2, 3, 4};
  if (t == 32) s[64 * b + (Right ? 4 : 3)] = x[i];
}
PAIR(stores_behind_vector, stores_into_vector, overlap_vectors)

// --- Fences that do not what they seem to ---
template <class Fence>
__device__ void tell_by(float* y, const float* x, unsigned* f, float* s, Fence fence) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    s[0] = x[5];
    fence();
    store_relaxed(f, 1);
  } else if (blockIdx.x == 1) {
    while (load_acquire(f) == 0) {
    }
    y[0] = s[0];
  }
}
#define TELLS_BY(name, fence) \
  KERNEL(name) { tell_by(y, x, reinterpret_cast<unsigned*>(flags), s, [] { fence; }); }
TELLS_BY(tells_by_sc_fence, FENCE("sc.gpu"))
TELLS_BY(tells_by_membar, asm volatile("membar.gl;" ::: "memory"))
TELLS_BY(tells_by_membar_of_block, asm volatile("membar.cta;" ::: "memory"))
TELLS_BY(tells_by_proxy_fence, asm volatile("fence.proxy.async;" ::: "memory"))
TELLS_BY(tells_by_proxy_fence_of_global, asm volatile("fence.proxy.async.global;" ::: "memory"))
TELLS_BY(tells_by_alias_fence, asm volatile("fence.proxy.alias;" ::: "memory"))
TELLS_BY(tells_by_mbarrier_fence, asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"))
TELLS_BY(tells_by_clock, (void)clock64())
TELLS_BY(tells_by_nothing_but_registers, asm volatile("" ::: "memory"))
// The fence of another thread releases nothing of this one's.
PATTERN(fence_in_other_warp) {
  INDEX;
  if (b == 0) {
    if (t == 0) s[0] = x[5];
    __syncthreads();
    if (t == (Right ? 0 : 32)) __threadfence();
    if (!Right) __syncwarp();
    if (t == 0) store_relaxed(f, 1);
  } else if (b == 1 && t == 0) {
    while (load_acquire(f) == 0) {
    }
    y[0] = s[0];
  }
}
PAIR(fences_and_tells, fences_in_other_warp, fence_in_other_warp)
// What is acquired narrowly is not passed on widely.
PATTERN(pass_on_narrowly) {
  INDEX;
  if (t == 0 && b == 0) {
    s[0] = x[5];
    store_release(f, 1);
  }
  if (b == 1 && t == 0) {
    while ((Right ? load_acquire(f) : load_acquire_block(f)) == 0) {
    }
    store_release(f + 1, 1);
  }
  if (b == 2 && t == 0) {
    while (load_acquire(f + 1) == 0) {
    }
    y[0] = s[0];
  }
}
PAIR(passes_on, passes_on_narrowly, pass_on_narrowly)

// --- Clusters of two blocks ---
__device__ unsigned shared_of(const void* own, unsigned rank) {
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_at(own)), "r"(rank));
  return address;
}
__device__ void meet_in_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
PATTERN(count_in_cluster) {
  INDEX;
  __shared__ unsigned count;
  if (t == 0) count = 0;
  meet_in_cluster();
  if (t == 0) {
    if (Right) {
      asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(
                       shared_of(&count, 0))
                   : "memory");
    } else {
      asm volatile("red.relaxed.cta.shared::cluster.add.u32 [%0], 1;" ::"r"(shared_of(&count, 0))
                   : "memory");
    }
  }
  meet_in_cluster();
  if (t == 0 && b % 2 == 0) y[b] = static_cast<float>(count);
}
PAIR(counts_in_cluster, counts_in_cluster_for_block, count_in_cluster)
// The fence of mbarriers' initialisation releases nothing else.
PATTERN(publish_in_cluster) {
  INDEX;
  __shared__ float tile[kThreads];
  tile[t] = x[i];
  if (Right) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  if (!Right) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];"
               : "=f"(value)
               : "r"(shared_of(tile + t, (b ^ 1) % 2))
               : "memory");
  y[i] = value;
  meet_in_cluster();
}
PAIR(publishes_in_cluster, publishes_in_cluster_by_mbarrier_fence, publish_in_cluster)
// A source that is sent to two blocks is read until both have it.
PATTERN(overwrite_sent) {
  INDEX;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) {
    make_mbarrier(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_at(&full))
                 : "memory");
  }
  meet_in_cluster();
  if (b % 2 == 0 && t == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 256, [%2], 3;" ::"r"(shared_at(tile)),
        "l"(s + 64 * b), "r"(shared_at(&full))
        : "memory");
  }
  await(&full, 0);
  if (Right) meet_in_cluster();
  if (b % 2 == 0) s[64 * b + t] = x[i];
  y[i] = tile[t];
  meet_in_cluster();
}
PAIR(overwrites_what_was_sent_to_both, overwrites_what_is_sent_to_other, overwrite_sent)
// One warp waits at the cluster's barrier for the block.
KERNEL(meets_in_cluster_for_block) {
  INDEX;
  s[i] = x[i];
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  if (t < 32) asm volatile("barrier.cluster.wait;" ::: "memory");
  __syncthreads();
  y[i] = s[i ^ 64];
  if (t >= 32) asm volatile("barrier.cluster.wait;" ::: "memory");
}
// A lock in the memory of one of the blocks.
PATTERN(lock_in_cluster) {
  INDEX;
  __shared__ unsigned mutex;
  __shared__ unsigned value;
  if (t == 0) mutex = value = 0;
  meet_in_cluster();
  if (t == 0) {
    unsigned old = 1, now;
    while (old != 0) {
      if (Right) {
        asm volatile("atom.acquire.cluster.shared::cluster.cas.b32 %0, [%1], 0, 1;"
                     : "=r"(old)
                     : "r"(shared_of(&mutex, 0))
                     : "memory");
      } else {
        asm volatile("atom.acquire.cta.shared::cluster.cas.b32 %0, [%1], 0, 1;"
                     : "=r"(old)
                     : "r"(shared_of(&mutex, 0))
                     : "memory");
      }
    }
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(now)
                 : "r"(shared_of(&value, 0))
                 : "memory");
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(shared_of(&value, 0)), "r"(now + 1)
                 : "memory");
    asm volatile("atom.release.cluster.shared::cluster.exch.b32 %0, [%1], 0;"
                 : "=r"(old)
                 : "r"(shared_of(&mutex, 0))
                 : "memory");
  }
  meet_in_cluster();
  if (t == 0 && b % 2 == 0) y[b] = static_cast<float>(value);
}
PAIR(locks_in_cluster, locks_in_cluster_for_block, lock_in_cluster)
// st.async is none of the async proxy's: no proxy fence comes before it.
KERNEL(sends_words_over_own) {
  INDEX;
  __shared__ alignas(16) unsigned words[kThreads];
  __shared__ unsigned long long full;
  words[t] = 0;
  if (t == 0) {
    make_mbarrier(&full, 1);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_at(&full))
                 : "memory");
  }
  meet_in_cluster();
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
          shared_of(words + t, (b ^ 1) % 2)),
      "r"(t), "r"(shared_of(&full, (b ^ 1) % 2))
      : "memory");
  await(&full, 0);
  y[i] = static_cast<float>(words[t ^ 1]);
  meet_in_cluster();
}
// Who owns the memory may be too narrow, too.
PATTERN(count_in_own_block) {
  INDEX;
  __shared__ unsigned count;
  if (t == 0) count = 0;
  meet_in_cluster();
  if (t == 0 && b % 2 == 0) Right ? atomicAdd(&count, 1u) : atomicAdd_block(&count, 1u);
  if (t == 0 && b % 2 == 1) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(shared_of(&count, 0))
                 : "memory");
  }
  meet_in_cluster();
  if (t == 0 && b % 2 == 0) y[b] = static_cast<float>(count);
}
PAIR(counts_in_own_block_for_cluster, counts_in_own_block_alone, count_in_own_block)

// --- Much between two barriers ---
// Lanes store to places of no order, and to one more.
PATTERN(scatter) {
  INDEX;
  __shared__ unsigned short tile[4096];
  if (t == 40) tile[4091] = 0;
  __syncthreads();
  if (t < 32) {
    for (int k = 0; k < 64; ++k) tile[(t * t * 7 + 64 * t + k * 4) % 4000 & ~1] = 1;
    tile[4090 + t % 2] = static_cast<unsigned short>(t % 2);
  }
  if (Right) __syncthreads();
  if (t == 40) y[i] = tile[4091];
}
PAIR(scatters, scatters_and_reads, scatter)
