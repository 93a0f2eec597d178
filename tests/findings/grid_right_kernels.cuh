// Right kernels: how the blocks and warps of a grid work together in global memory.

__device__ void lock(unsigned* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(unsigned* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}
// All threads of the grid meet; the counter goes up by one for each block.
__device__ void meet(unsigned* counter, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1);
    while (load_volatile(counter) < kBlocks * round) {
    }
    __threadfence();
  }
  __syncthreads();
}

// --- Atomics ---
KERNEL(adds_up) { INDEX; atomicAdd(y, x[i]); }
KERNEL(reduces_then_adds) {
  INDEX;
  __shared__ float sums[kThreads];
  sums[t] = x[i];
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] += sums[t + half];
  }
  if (t == 0) atomicAdd(y, sums[0]);
}
KERNEL(makes_histogram) {
  INDEX;
  __shared__ unsigned bins[16];
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[static_cast<int>(x[i]) % 16], 1);
  __syncthreads();
  if (t < 16) atomicAdd(f + t, bins[t]);
}
KERNEL(finds_maximum) {
  INDEX;
  unsigned seen = load_relaxed(f);
  const unsigned mine = __float_as_uint(x[i]);
  while (mine > seen) {
    const unsigned now = atomicCAS(f, seen, mine);
    if (now == seen) break;
    seen = now;
  }
}
// As the CUDA guide has it: what was read plainly is compared again.
KERNEL(multiplies_by_swaps) {
  INDEX;
  unsigned old = f[0], assumed;
  do {
    assumed = old;
    old = atomicCAS(f, assumed, assumed * 3 + 1);
  } while (assumed != old);
}
KERNEL(looks_before_it_updates) {
  INDEX;
  if (f[0] < 200u) atomicMax(f, static_cast<unsigned>(i));
}
KERNEL(counts_in_own_block) {
  INDEX;
  atomicAdd_block(f + 8 * b, 1);
  __syncthreads();
  if (t == 32) y[b] = static_cast<float>(f[8 * b]);
}
KERNEL(takes_tickets) {
  INDEX;
  __shared__ unsigned tile;
  for (;;) {
    __syncthreads();
    if (t == 0) tile = atomicAdd(f, 1);
    __syncthreads();
    if (tile >= 8) break;
    if (t < 32) y[tile * 32 + t] = x[tile * 32 + t];
  }
}

// --- The last block ---
template <class Count>
__device__ void last_block_sums(float* y, const float* x, float* s, Count count) {
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  __shared__ bool is_last;
  s[i] = 2 * x[i];
  __syncthreads();
  if (t == 0) is_last = count();
  __syncthreads();
  if (!is_last) return;
  float sum = 0;
  for (int k = t; k < kBlocks * kThreads; k += kThreads) sum += s[k];
  y[t] = sum;
}
KERNEL(last_block_by_fences) {
  INDEX;
  last_block_sums(y, x, s, [&] {
    __threadfence();
    const bool is_last = atomicInc(f, kBlocks - 1) == kBlocks - 1;
    __threadfence();
    return is_last;
  });
}
KERNEL(last_block_by_orders) {
  INDEX;
  last_block_sums(y, x, s, [&] {
    return AtomicRef(*f).fetch_add(1, cuda::memory_order_acq_rel) == kBlocks - 1;
  });
}
KERNEL(last_block_resets) {
  INDEX;
  last_block_sums(y, x, s, [&] {
    __threadfence();
    const bool is_last = atomicAdd(f, 1) == kBlocks - 1;
    if (is_last) *f = 0;  // comes after all that was counted
    return is_last;
  });
}
KERNEL(last_block_behind_fences_of_all) {
  INDEX;
  __shared__ bool is_last;
  s[i] = 2 * x[i];
  __threadfence();
  __syncthreads();
  if (t == 0) is_last = atomicAdd(f, 1) == kBlocks - 1;
  __syncthreads();
  if (is_last) y[t] = s[t] + s[t + 64] + s[t + 128] + s[t + 192];
}
KERNEL(last_warp_sums) {
  INDEX;
  s[i] = 2 * x[i];
  __syncwarp();
  unsigned order = 0;
  if (t % 32 == 0) order = AtomicRef(*f).fetch_add(1, cuda::memory_order_acq_rel);
  order = __shfl_sync(0xffffffff, order, 0);
  if (order == 7) y[t % 32] = s[t % 32] + s[255 - t % 32];
}

// --- Look-back ---
KERNEL(looks_back_by_orders) {
  INDEX;
  __shared__ float before;
  if (t == 0) {
    before = 0;
    if (b != 0) {
      while (load_acquire(f + b - 1) == 0) {
      }
      before = s[b - 1];
    }
    s[b] = before + x[i];
    store_release(f + b, 1);
  }
  __syncthreads();
  y[i] = before;
}
KERNEL(looks_back_at_all) {
  INDEX;
  if (t == 0) {
    s[b] = x[i];
    __threadfence();
    store_volatile(f + b, 1);
    float sum = 0;
    for (int k = b - 1; k >= 0; --k) {
      while (load_volatile(f + k) == 0) {
      }
      __threadfence();
      sum += s[k];
    }
    y[b] = sum;
  }
}
// By what the block before knows of all before it.
KERNEL(looks_back_through_others) {
  INDEX;
  if (t == 0) {
    if (b != 0) {
      while (load_acquire(f + b - 1) == 0) {
      }
    }
    s[b] = x[i];
    store_release(f + b, 1);
    float sum = 0;
    for (int k = 0; k <= b; ++k) sum += s[k];
    y[b] = sum;
  }
}

// --- Barriers of the grid ---
KERNEL(meets_by_groups) {
  INDEX;
  s[i] = x[i];
  cooperative_groups::this_grid().sync();
  const float other = s[255 - i];
  cooperative_groups::this_grid().sync();
  s[i] = other;
}
KERNEL(meets_by_counter) {
  INDEX;
  s[i] = x[i];
  meet(f, 1);
  const float other = s[255 - i];
  meet(f, 2);
  s[i] = other;
  meet(f, 3);
  y[i] = s[i ^ 64];
}
KERNEL(meets_by_orders) {
  INDEX;
  s[i] = x[i];
  __syncthreads();
  if (t == 0) {
    add_release(f, 1);
    while (load_acquire(f) < kBlocks) {
    }
  }
  __syncthreads();
  y[i] = s[255 - i];
}
KERNEL(meets_by_turns) {
  INDEX;
  for (unsigned round = 0; round < 3; ++round) {
    s[i] = x[i] + static_cast<float>(round);
    __syncthreads();
    if (t == 0) {
      const unsigned turn = load_volatile(f + 1);
      __threadfence();
      if (atomicAdd(f, 1) == kBlocks - 1) {
        *reinterpret_cast<volatile unsigned*>(f) = 0;
        __threadfence();
        store_volatile(f + 1, turn + 1);
      } else {
        while (load_volatile(f + 1) == turn) {
        }
      }
      __threadfence();
    }
    __syncthreads();
    y[i] = s[255 - i];
    meet(f + 8, round + 1);
  }
}
KERNEL(meets_in_every_warp) {
  INDEX;
  s[i] = x[i];
  __syncwarp();
  if (t % 32 == 0) {
    add_release(f, 1);
    while (load_acquire(f) < 8) {
    }
  }
  __syncwarp();
  y[i] = s[255 - i];
}

// --- Locks ---
KERNEL(locks_by_swaps) {
  INDEX;
  if (t == 0) {
    lock(f);
    s[0] += x[i];
    s[1] = s[0];
    unlock(f);
  }
}
KERNEL(locks_by_orders) {
  INDEX;
  if (t % 32 == 0) {
    while (AtomicRef(*f).exchange(1, cuda::memory_order_acquire) != 0) {
    }
    s[0] += x[i] + 1;
    AtomicRef(*f).store(0, cuda::memory_order_release);
  }
}
KERNEL(locks_by_tickets) {
  INDEX;
  if (t == 0) {
    const unsigned mine = atomicAdd(f, 1);
    while (load_acquire(f + 1) != mine) {
    }
    s[0] += x[i] + 1;
    store_release(f + 1, mine + 1);
  }
}
KERNEL(locks_for_blocks) {
  INDEX;
  if (t == 0) lock(f);
  __syncthreads();
  s[t] += x[i] + 1;
  __syncthreads();
  if (t == 0) unlock(f);
}

// --- Queues ---
KERNEL(queues_up) {
  INDEX;
  if (b < 2) {  // two producers, two consumers
    if (t == 0) {
      const unsigned slot = atomicAdd(f, 1);
      s[slot] = x[i] + 1;
      store_release(f + 8 + slot, 1);
    }
  } else if (t == 0) {
    const unsigned slot = atomicAdd(f + 1, 1);
    while (load_acquire(f + 8 + slot) == 0) {
    }
    y[slot] = s[slot];
  }
}
KERNEL(hands_to_and_fro) {
  INDEX;
  if (b > 1 || t != 0) return;
  for (unsigned round = 0; round < 4; ++round) {
    while (load_acquire(f) != 2 * round + static_cast<unsigned>(b)) {
    }
    s[0] += 1;
    store_release(f, 2 * round + static_cast<unsigned>(b) + 1);
  }
}
// The one that polls takes the flag back by a plain store.
KERNEL(takes_the_flag_back) {
  INDEX;
  if (b == 0 && t == 0) {
    s[0] = x[5] + 1;
    store_release(f, 1);
    while (load_acquire(f + 1) == 0) {
    }
    f[1] = 0;
  } else if (b == 1) {
    if (t == 0) {
      while (load_acquire(f) == 0) {
      }
    }
    __syncthreads();
    if (t == 40) f[0] = 0;
    y[t] = s[0];
    __syncthreads();
    if (t == 0) store_release(f + 1, 1);
  }
}

// --- Inside a block ---
KERNEL(swaps_by_barrier) {
  INDEX;
  s[i] = x[i];
  __syncthreads();
  y[i] = s[i ^ 32];
}
KERNEL(works_in_two_buffers) {
  INDEX;
  float* from = s;
  float* to = y;
  from[i] = x[i];
  for (int k = 0; k < 4; ++k) {
    __syncthreads();
    to[i] = from[i ^ 32] + 1;
    float* const next = from;
    from = to;
    to = next;
  }
}
KERNEL(swaps_by_named_barrier) {
  INDEX;
  s[i] = x[i];
  asm volatile("bar.sync 3, 64;" ::: "memory");
  y[i] = s[i ^ 32];
}
KERNEL(swaps_by_votes_of_all) {
  INDEX;
  s[i] = x[i];
  if (__syncthreads_or(x[i] > 3)) y[i] = s[i ^ 32];
}
KERNEL(hands_to_other_warp) {
  INDEX;
  s[i] = x[i];
  if (t < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[i] = s[i ^ 32];
  }
}
KERNEL(swaps_by_mbarrier) {
  INDEX;
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (t == 0) init(&bar, kThreads);
  __syncthreads();
  s[i] = x[i];
  bar.arrive_and_wait();
  y[i] = s[i ^ 32];
}
KERNEL(tells_other_warp_for_block) {
  INDEX;
  s[i] = x[i];
  __syncwarp();
  if (t == 0) store_release_block(f + 8 * b, 1);
  if (t < 32) return;
  while (load_acquire_block(f + 8 * b) == 0) {
  }
  y[i] = s[i ^ 32];
}
KERNEL(tells_other_warp_by_shared_flag) {
  INDEX;
  __shared__ unsigned told;
  if (t == 0) told = 0;
  __syncthreads();
  s[i] = x[i];
  __syncwarp();
  __threadfence_block();
  if (t == 0) atomicExch(&told, 1);
  if (t < 32) return;
  while (*static_cast<volatile unsigned*>(&told) == 0) {
  }
  __threadfence_block();
  y[i] = s[i ^ 32];
}
KERNEL(keeps_to_its_warp) {
  INDEX;
  s[i] = x[i];
  __syncwarp();
  y[i] = s[i ^ 16];
}
KERNEL(scales_in_place) {
  INDEX;
  for (int k = 0; k < 3; ++k) s[i] = s[i] * 2 + x[i];
}

// --- Clusters ---
KERNEL(swaps_in_cluster) {
  INDEX;
  s[i] = x[i];
  cooperative_groups::this_cluster().sync();
  y[i] = s[i ^ 64];
}
KERNEL(tells_in_cluster) {
  INDEX;
  s[i] = x[i];
  __syncthreads();
  if (b % 2 == 0) {
    if (t == 0) store_release_cluster(f + 8 * b, 1);
  } else {
    if (t == 0) {
      while (load_acquire_cluster(f + 8 * (b - 1)) == 0) {
      }
    }
    __syncthreads();
    y[i] = s[i ^ 64];
  }
}

// --- What is not a race ---
KERNEL(writes_one_value) { INDEX; y[0] = 5; y[1 + t] = static_cast<float>(t); }
KERNEL(writes_one_value_and_reads_it) {
  INDEX;
  store_weak(f, 7);
  y[i] = static_cast<float>(load_weak(f));
}
KERNEL(writes_one_value_in_vectors) {
  INDEX;
  reinterpret_cast<float4*>(y)[t % 16] = make_float4(1, 2, 3, static_cast<float>(t % 16));
}
KERNEL(writes_bytes_beside) {
  INDEX;
  // The bytes of each word are written by four warps, two of each of two blocks.
  auto* bytes = reinterpret_cast<unsigned char*>(y);
  const int warp = i / 32;
  bytes[(warp / 4) * 128 + (t % 32) * 4 + warp % 4] = static_cast<unsigned char>(i);
}
KERNEL(writes_halves_beside) {
  INDEX;
  reinterpret_cast<unsigned short*>(y)[t * 4 + b] = static_cast<unsigned short>(i);
}
KERNEL(reads_what_all_read) {
  INDEX;
  float sum = 0;
  for (int k = 0; k < 256; ++k) sum += x[k];
  y[i] = sum;
}
KERNEL(reads_volatile_counter) {
  INDEX;
  if (t == 0) atomicAdd(f, 1);
  y[i] = static_cast<float>(load_volatile(f));
}
KERNEL(multiplies) {  // 16 x 16, a block has four rows
  INDEX;
  const int row = i / 16;
  const int column = i % 16;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += x[row * 16 + k] * x[k * 16 + column];
  y[i] = sum;
}

// --- Asynchronous copies ---
__device__ unsigned shared_at(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
KERNEL(copies_what_was_swapped) {
  INDEX;
  __shared__ float tile[kThreads];
  s[i] = x[i];
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_at(tile + t)),
               "l"(s + (i ^ 32))
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  s[i] = 1;
  y[i] = tile[t];
}
KERNEL(copies_out_in_bulk) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  tile[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  __shared__ bool is_last;
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(s + i),
                 "r"(shared_at(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __threadfence();
    is_last = atomicAdd(f, 1) == kBlocks - 1;
  }
  __syncthreads();
  if (is_last) y[t] = s[t] + s[t + 192];
}
// The copy is over for who waits for the mbarrier, not for the thread that asked for it.
KERNEL(copies_in_and_is_overwritten) {
  INDEX;
  alignas(16) __shared__ float tile[kThreads];
  __shared__ unsigned long long full;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_at(&full)) : "memory");
  }
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(shared_at(&full))
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::
            "r"(shared_at(tile)),
        "l"(s + 64 * b), "r"(shared_at(&full))
        : "memory");
  }
  if (t < 32) return;
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(shared_at(&full))
        : "memory");
  }
  y[i] = tile[t];
  s[i] = 3;
}
