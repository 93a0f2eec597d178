// Wrong kernels: warps and blocks of a grid that nothing orders in global memory.

// --- Warps of a block ---
__shared__ float* common_block;
__device__ void allocate_common(const float* x) {
  common_block = static_cast<float*>(malloc(sizeof(float)));
  *common_block = x[0];
}
KERNEL(frees_what_others_read) {
  INDEX;
  if (t == 0) allocate_common(x);
  __syncthreads();
  y[i] = *common_block;
  if (t == 0) free(common_block);  // and no barrier before
}
KERNEL(writes_one_block_of_the_heap) {
  INDEX;
  if (t == 0) allocate_common(x);
  __syncthreads();
  *common_block = static_cast<float>(t);
  __syncthreads();
  y[i] = *common_block;
}
// Each lane is alone at the barrier of the warp.
KERNEL(lanes_meet_alone) {
  INDEX;
  __shared__ float mine[kThreads];
  mine[t] = x[i];
  __syncwarp(1u << t % 32);
  y[i] = mine[t ^ 8];
}
KERNEL(swaps_without_barrier) { INDEX; s[i] = x[i] + 1; y[i] = s[i ^ 32]; }
KERNEL(swaps_by_warp_barrier) { INDEX; s[i] = x[i] + 1; __syncwarp(); y[i] = s[i ^ 32]; }
KERNEL(swaps_by_block_fence) { INDEX; s[i] = x[i] + 1; __threadfence(); y[i] = s[i ^ 32]; }
KERNEL(uses_one_buffer) {
  INDEX;
  for (int k = 0; k < 2; ++k) {
    s[i] = x[i] + static_cast<float>(k + 1);
    __syncthreads();
    y[i] = s[i ^ 32];  // and no barrier before the next write
  }
}
KERNEL(waits_at_other_barriers) {
  INDEX;
  s[i] = x[i] + 1;
  if (t < 32) {
    asm volatile("bar.sync 1, 32;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 32;" ::: "memory");
  }
  y[i] = s[i ^ 32];
}
KERNEL(arrives_before_it_writes) {
  INDEX;
  if (t < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    s[i] = x[i] + 1;
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[i] = s[i ^ 32];
  }
}
KERNEL(one_warp_writes_for_all) {
  INDEX;
  if (t < 32) s[b] = static_cast<float>(b + 1);
  y[i] = s[b];
}
KERNEL(copies_what_others_write) {
  INDEX;
  __shared__ float tile[kThreads];
  s[i] = x[i] + 1;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_at(tile + t)),
               "l"(s + (i ^ 32))
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[i] = tile[t];
}

// --- Blocks ---
KERNEL(swaps_between_blocks) { INDEX; s[i] = x[i] + 1; __syncthreads(); y[i] = s[i ^ 64]; }
KERNEL(counts_plainly) { INDEX; if (t == 0) s[0] += 1; }
KERNEL(makes_histogram_plainly) { INDEX; if (t == b) s[t % 2] = s[t % 2] + 1; }
KERNEL(smooths_in_place) {
  INDEX;
  const float next = s[(i + 1) % 256];
  __syncthreads();
  s[i] = next + x[i] + 1;
}
KERNEL(all_write_their_sum) { INDEX; if (t == 0) y[0] = static_cast<float>(b); }
KERNEL(stores_vectors_over_words) {
  INDEX;
  if (b == 0 && t < 16) reinterpret_cast<float4*>(y)[t] = make_float4(1, 2, 3, 4);
  if (b == 1) y[t] = 9;
}
KERNEL(stores_rows_that_overlap) {
  INDEX;
  if (t < 40) y[32 * b + t] = static_cast<float>(i);
}
KERNEL(stores_word_over_byte) {
  INDEX;
  if (b == 0 && t == 0) reinterpret_cast<unsigned char*>(y)[2] = 1;
  if (b == 1 && t == 0) y[0] = 3;
}
KERNEL(shifts_in_place) { INDEX; const float next = s[255 - i]; s[i] = next + x[i] + 1; }
KERNEL(adds_and_reads_plainly) { INDEX; if (t == 0) atomicAdd(f, 1); y[i] = static_cast<float>(f[0]); }
KERNEL(looks_at_what_others_update) {
  INDEX;
  if (t == 0) atomicMax(f, static_cast<unsigned>(i));
  if (f[0] < 200u) y[i] = 1;
}
KERNEL(resets_what_others_count) { INDEX; if (b == 0 && t == 0) f[0] = 100; if (t == 0) atomicAdd(f, 1); }
KERNEL(counts_for_blocks) { INDEX; if (t == 0) atomicAdd_block(f, 1); }
KERNEL(makes_flags_for_others) {
  INDEX;
  if (b == 0 && t == 0) f[1] = 7;  // the others may look before that
  if (b == 1 && t == 0) y[1] = static_cast<float>(load_volatile(f + 1));
}

// --- The last block ---
KERNEL(last_block_without_fence) {
  INDEX;
  last_block_sums(y, x, s, [&] { return atomicAdd(f, 1) == kBlocks - 1; });
}
KERNEL(last_block_with_block_fence) {
  INDEX;
  last_block_sums(y, x, s, [&] {
    __threadfence_block();
    return atomicAdd(f, 1) == kBlocks - 1;
  });
}
KERNEL(last_block_counts_too_early) {
  INDEX;
  __shared__ bool is_last;
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(f, 1) == kBlocks - 1;
  }
  s[i] = 2 * x[i] + 1;
  __syncthreads();
  if (is_last) y[t] = s[t] + s[t + 64] + s[t + 128] + s[t + 192];
}
KERNEL(last_block_without_barrier) {
  INDEX;
  __shared__ bool is_last;
  s[i] = 2 * x[i] + 1;
  if (t == 0) {  // warp 1 may not have written
    __threadfence();
    is_last = atomicAdd(f, 1) == kBlocks - 1;
  }
  __syncthreads();
  if (is_last) y[t] = s[t] + s[t + 64] + s[t + 128] + s[t + 192];
}
KERNEL(last_block_writes_before) {
  INDEX;
  __shared__ bool is_last;
  if (t == 0) {
    s[b] = x[i] + 1;
    __threadfence();
    is_last = atomicAdd(f, 1) == kBlocks - 1;
    s[b] = x[i] + 2;  // after the fence
  }
  __syncthreads();
  if (is_last && t < kBlocks) y[t] = s[t];
}

// --- Look-back ---
KERNEL(looks_back_without_fence) {
  INDEX;
  if (t != 0) return;
  float before = 0;
  if (b != 0) {
    while (load_volatile(f + b - 1) == 0) {
    }
    before = s[b - 1];
  }
  s[b] = before + x[i] + 1;
  store_volatile(f + b, 1);
}
KERNEL(looks_back_too_far) {
  INDEX;
  if (t != 0) return;
  s[b] = x[i] + 1;
  store_release(f + b, 1);
  if (b == 0) return;
  while (load_acquire(f + b - 1) == 0) {
  }
  y[b] = s[b / 2 == 0 ? 0 : b - 2];  // of which the block before need know nothing
  if (b == 1) y[200] = s[3];
}

// --- Barriers of the grid ---
template <bool FencesBefore, bool FencesBehind, bool SyncsBefore, bool SyncsBehind>
__device__ void meet_badly(float* y, const float* x, unsigned* f, float* s) {
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  s[i] = x[i] + 1;
  if (SyncsBefore) __syncthreads();
  if (t == 0) {
    if (FencesBefore) __threadfence();
    atomicAdd(f, 1);
    while (load_volatile(f) < kBlocks) {
    }
    if (FencesBehind) __threadfence();
  }
  if (SyncsBehind) __syncthreads();
  y[i] = s[255 - i];
}
KERNEL(meets_without_fence) { INDEX; meet_badly<false, true, true, true>(y, x, f, s); }
KERNEL(meets_before_others_arrive) { INDEX; meet_badly<true, true, false, true>(y, x, f, s); }
KERNEL(meets_and_others_go_on) { INDEX; meet_badly<true, true, true, false>(y, x, f, s); }
KERNEL(meets_once_too_little) {
  INDEX;
  for (unsigned round = 1; round < 3; ++round) {
    s[i] = x[i] + static_cast<float>(round);
    meet(f, round);
    y[i] = s[255 - i];  // and no barrier before the next write
  }
}
KERNEL(meets_by_groups_once_too_little) {
  INDEX;
  for (unsigned round = 1; round < 3; ++round) {
    s[i] = x[i] + static_cast<float>(round);
    cooperative_groups::this_grid().sync();
    y[i] = s[255 - i];
  }
}
KERNEL(meets_in_blocks_only) {
  INDEX;
  s[i] = x[i] + 1;
  cooperative_groups::this_thread_block().sync();
  y[i] = s[255 - i];
}

// --- Locks and queues ---
template <bool FencesBefore>
__device__ void add_under_lock(unsigned* f, float* s) {
  while (atomicCAS(f, 0, 1) != 0) {
  }
  __threadfence();
  s[0] += 1;
  if (FencesBefore) __threadfence();
  atomicExch(f, 0);
}
KERNEL(unlocks_without_fence) { INDEX; if (t == 0) add_under_lock<false>(f, s); }
KERNEL(one_block_locks_not) {
  INDEX;
  if (t != 0) return;
  if (b == 3) {
    s[0] += 1;
  } else {
    add_under_lock<true>(f, s);
  }
}
KERNEL(uses_two_locks) {
  INDEX;
  if (t != 0) return;
  unsigned* const mutex = f + 8 * (b % 2);
  lock(mutex);
  s[0] += 1;
  unlock(mutex);
}
KERNEL(reads_without_the_lock) {
  INDEX;
  if (t != 0) return;
  if (b == 2) {
    y[0] = s[0];
  } else {
    add_under_lock<true>(f, s);
  }
}
KERNEL(queues_before_it_writes) {
  INDEX;
  if (t != 0 || b > 1) return;
  if (b == 0) {
    store_release(f, 1);
    s[0] = x[5] + 1;
  } else {
    while (load_acquire(f) == 0) {
    }
    y[0] = s[0];
  }
}
KERNEL(takes_items_twice) {
  INDEX;
  if (t != 0) return;
  const unsigned item = load_volatile(f);  // and not in one step
  store_volatile(f, item + 1);
  s[item / 8] = static_cast<float>(b + 1);
}

// --- Clusters ---
KERNEL(swaps_in_cluster_without_barrier) { INDEX; s[i] = x[i] + 1; __syncthreads(); y[i] = s[i ^ 64]; }
KERNEL(swaps_between_clusters) {
  INDEX;
  s[i] = x[i] + 1;
  cooperative_groups::this_cluster().sync();
  y[i] = s[i ^ 128];
}
// --- Copies in bulk ---
KERNEL(copies_out_over_others) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  tile[t] = static_cast<float>(i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(s + 32 * b),
                 "r"(shared_at(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
