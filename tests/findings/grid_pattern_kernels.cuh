// Patterns of whole grids, each right and with one order missing.

#define PAIR(right, wrong, pattern)                    \
  KERNEL(right) { pattern<true>(y, x, flags, s); }     \
  KERNEL(wrong) { pattern<false>(y, x, flags, s); }
#define PATTERN(name) \
  template <bool Right> \
  __device__ void name(float* y, const float* x, float* flags, float* s)

// Split-K: each block leaves a partial sum, the owner of the tile adds them up.
PATTERN(split_k) {
  INDEX;
  if (b != 0) {
    s[i] = x[i] + 1;
    if (Right) __threadfence();
    __syncthreads();
    if (t == 0) atomicAdd(f, 1);
    return;
  }
  if (t == 0) {
    while (load_acquire(f) != kBlocks - 1) {
    }
  }
  __syncthreads();
  y[t] = x[t] + s[64 + t] + s[128 + t] + s[192 + t];
}
PAIR(splits_k, splits_k_without_fence, split_k)
// Stream-K: the block of a tile's end gives its part to the one of its begin.
PATTERN(fix_up) {
  INDEX;
  if (b % 2 == 1) {
    s[i] = x[i] + 1;
    __syncthreads();
    if (t == 0) store_release(f + b, 1);
  } else {
    if (t == 0) {
      while (load_acquire(f + b + 1) == 0) {
      }
    }
    if (Right) __syncthreads();
    y[i] = x[i] + s[i + 64];
  }
}
PAIR(fixes_up, fixes_up_in_one_thread, fix_up)
// Partial sums are added in turn, by a semaphore.
PATTERN(add_in_turn) {
  INDEX;
  if (t == 0) {
    while (load_acquire(f) != static_cast<unsigned>(b)) {
    }
  }
  __syncthreads();
  s[t] += x[i] + 1;
  if (Right) __syncthreads();
  if (t == 0) store_release(f, b + 1);
}
PAIR(adds_in_turn, adds_in_turn_passing_early, add_in_turn)
// Jacobi: from one array into the other, all blocks meeting in between.
PATTERN(iterate) {
  INDEX;
  float* from = s;
  float* to = y;
  from[i] = x[i] + 1;
  meet(f, 1);
  for (unsigned k = 2; k < 5; ++k) {
    const float v = from[(i + 1) % 256] + from[(i + 255) % 256];
    if (Right) {
      to[i] = v;
      to = from;
      from = from == s ? y : s;
    } else {
      from[i] = v;
    }
    meet(f, k);
  }
}
PAIR(iterates, iterates_in_place, iterate)
// A frontier grows by an atomic end; its items are read when all have met.
PATTERN(grow_frontier) {
  INDEX;
  if (t % 16 == 0) s[atomicAdd(f, 1)] = static_cast<float>(i + 1);
  if (Right) meet(f + 8, 1);
  const unsigned end = load_relaxed(f);
  for (unsigned k = i; k < end; k += 256) y[k] = s[k];
  if (!Right && i < 16) y[i] = s[i];
}
PAIR(grows_frontier, reads_frontier_growing, grow_frontier)
// The last block clears the counter for the next launch. The first one must not.
PATTERN(clear_counter) {
  INDEX;
  __shared__ bool is_mine;
  if (t == 0) {
    __threadfence();
    const unsigned before = atomicAdd(f, 1);
    is_mine = before == (Right ? kBlocks - 1 : 0);
    if (is_mine) f[0] = 100;
  }
  __syncthreads();
  if (is_mine) y[t] = x[t];
}
PAIR(clears_counter, clears_counter_first, clear_counter)
// A hash table: the key is swapped in, the value follows, a mark tells that it is there.
PATTERN(insert) {
  INDEX;
  if (t != 0) return;
  if (b % 2 == 0) {
    atomicCAS(f + b, 0, 7);
    s[b] = x[i] + 1;
    if (Right) store_release(f + 8 + b, 1);
  } else {
    const unsigned* const mark = Right ? f + 8 + b - 1 : f + b - 1;
    while (load_acquire(mark) == 0) {
    }
    y[b] = s[b - 1];
  }
}
PAIR(inserts, finds_key_before_value, insert)
// Labels spread by atomic minima; who looks meanwhile must do so strongly.
PATTERN(spread_labels) {
  INDEX;
  atomicMin(f + 255 - i, static_cast<unsigned>(i));
  y[i] = static_cast<float>(Right ? load_relaxed(f + i) : load_weak(f + i));
}
PAIR(spreads_labels, spreads_labels_reading_plainly, spread_labels)
// A ring in global memory between two blocks: full and empty slots.
PATTERN(pass_by_ring) {
  INDEX;
  if (b > 1 || t != 0) return;
  for (unsigned k = 0; k < 6; ++k) {
    const unsigned slot = k % 2;
    if (b == 0) {
      while (load_acquire(f + 8 + slot) != k / 2) {
      }
      s[slot] = x[k] + static_cast<float>(k + 1);
      store_release(f + slot, k / 2 + 1);
    } else {
      while (load_acquire(f + slot) != k / 2 + 1) {
      }
      if (!Right) store_release(f + 8 + slot, k / 2 + 1);
      y[k] = s[slot];
      if (Right) store_release(f + 8 + slot, k / 2 + 1);
    }
  }
}
PAIR(passes_by_ring, passes_by_ring_released_early, pass_by_ring)
// Readers see a version before and after, and try again if it changed.
PATTERN(publish_twice) {
  INDEX;
  if (t != 0 || b > 1) return;
  for (unsigned k = 0; k < 2; ++k) {
    if (b == 0) {
      if (k != 0) {
        while (load_acquire(f + 1) == 0) {
        }
      }
      s[k] = x[5 + k] + 1;
      Right ? store_release(f, k + 1) : store_relaxed(f, k + 1);
    } else {
      while (load_acquire(f) < k + 1) {
      }
      y[k] = s[k];
      store_release(f + 1, 1);
    }
  }
}
PAIR(publishes_twice, publishes_twice_relaxed, publish_twice)
// Rows and columns: a block writes its rows, and reads a column of all rows.
PATTERN(turn_matrix) {
  INDEX;
  s[i] = x[i] + 1;
  Right ? meet(f, 1) : __syncthreads();
  y[i] = s[i % 16 * 16 + i / 16];
}
PAIR(turns_matrix, turns_matrix_in_blocks, turn_matrix)
// Of a chain of blocks each passes on what the one before told it, all but one by its own release.
PATTERN(pass_along) {
  INDEX;
  if (t != 0) return;
  if (b == 0) s[0] = x[5] + 1;
  if (b != 0) {
    while (load_acquire(f + b - 1) == 0) {
    }
  }
  b == 2 && !Right ? store_relaxed(f + b, 1) : store_release(f + b, 1);
  if (b == 3) y[0] = s[0];
}
PAIR(passes_along, passes_along_with_a_gap, pass_along)
// A binary tree of flags: each block waits for two.
PATTERN(reduce_by_tree) {
  INDEX;
  if (t != 0) return;
  float sum = x[i] + 1;
  for (int d = 1; d < kBlocks; d *= 2) {
    if (b % (2 * d) != 0) {
      s[b] = sum;
      Right || d == 1 ? store_release(f + b, 1) : store_relaxed(f + b, 1);
      return;
    }
    while (load_acquire(f + b + d) == 0) {
    }
    sum += s[b + d];
  }
  y[0] = sum;
}
PAIR(reduces_by_tree, reduces_by_tree_relaxed, reduce_by_tree)
// Readers count themselves in, and the writer waits until none is left.
PATTERN(lock_for_reading) {
  INDEX;
  if (t != 0) return;
  if (b == 0) {
    if (Right) {
      while (load_acquire(f) != kBlocks - 1) {
      }
    }
    s[0] = x[5] + 1;
  } else {
    y[b] = s[0];
    __threadfence();
    atomicAdd(f, 1);
  }
}
PAIR(locks_for_reading, writes_under_readers, lock_for_reading)
// A row is normalised by its norm, which another block computes.
PATTERN(normalize_rows) {
  INDEX;
  if (t == 0) {
    float norm = 0;
    for (int k = 0; k < 64; ++k) norm += x[64 * b + k];
    s[b] = norm + 1;
  }
  if (Right) meet(f, 1);
  y[i] = x[i] / s[i % kBlocks];
}
PAIR(normalizes_rows, normalizes_rows_early, normalize_rows)
// Blocks write interleaved columns, of a width that has to divide the row.
PATTERN(write_columns) {
  INDEX;
  constexpr int kApart = Right ? 64 : 48;
  s[b * kApart + t] = x[i] + static_cast<float>(b + 1);
}
PAIR(writes_columns, writes_columns_that_overlap, write_columns)
// Half of the blocks work on what the other half made.
PATTERN(hand_over) {
  INDEX;
  if (b < 2) {
    s[i] = x[i] + 1;
    __syncthreads();
    if (t == 0) store_release(f + b, 1);
  } else {
    if (t == 0) {
      for (int k = 0; k < (Right ? 2 : 1); ++k) {
        while (load_acquire(f + k) == 0) {
        }
      }
    }
    __syncthreads();
    y[i] = s[t] + s[64 + t];
  }
}
PAIR(hands_over, hands_over_half, hand_over)
// A lock of each bin.
PATTERN(lock_bins) {
  INDEX;
  if (t != 0) return;
  for (int k = 0; k < 4; ++k) {
    unsigned* const mutex = f + 4 * (Right ? k : 4 + b);
    lock(mutex);
    s[k] += x[i] + 1;
    unlock(mutex);
  }
}
PAIR(locks_bins, locks_its_own_bins, lock_bins)
// Warps of a block share a scratch row in global memory.
PATTERN(share_scratch) {
  INDEX;
  float v = x[i];
  for (int k = 0; k < 3; ++k) {
    s[i] = v + 1;
    __syncthreads();
    v = s[i ^ 48];
    if (Right) __syncthreads();
  }
  y[i] = v;
}
PAIR(shares_scratch, shares_scratch_over_readers, share_scratch)
// The first block to come makes a table for all.
PATTERN(make_once) {
  INDEX;
  if (t != 0) return;
  if (atomicCAS(f, 0, 1) == 0) {
    s[0] = x[5] + 1;
    Right ? store_release(f + 1, 1) : store_volatile(f + 1, 1);
  } else {
    while (load_acquire(f + 1) == 0) {
    }
  }
  y[b] = s[0];
}
PAIR(makes_once, makes_once_without_release, make_once)
// An index that a block reserves with one update is its own; one that it looks up is not.
PATTERN(reserve) {
  INDEX;
  if (t != 0) return;
  const unsigned at = Right ? atomicAdd(f, 1) : load_relaxed(f);
  s[at] = static_cast<float>(b + 1);
  if (!Right) atomicAdd(f + 1, 1);
}
PAIR(reserves, reserves_by_looking, reserve)
// Prefixes in one word with their state need no order. In two words they do.
PATTERN(look_back_in_words) {
  INDEX;
  if (t != 0) return;
  auto* const words = reinterpret_cast<unsigned long long*>(flags);
  unsigned before = 0;
  if (b != 0) {
    if (Right) {
      unsigned long long word = 0;
      while (word >> 32 == 0) {
        asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(words + b - 1) : "memory");
      }
      before = static_cast<unsigned>(word);
    } else {
      while (load_relaxed(f + 16 + b - 1) == 0) {
      }
      before = f[b - 1];
    }
  }
  if (Right) {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(words + b), "l"(1ull << 32 | (before + 1))
                 : "memory");
  } else {
    f[b] = before + 1;
    store_relaxed(f + 16 + b, 1);
  }
  y[b] = static_cast<float>(before);
}
PAIR(looks_back_in_one_word, looks_back_in_two_words, look_back_in_words)
#undef PAIR
