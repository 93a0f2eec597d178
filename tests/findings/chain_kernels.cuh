// Kernels of chains of dependent launches: right, or with one access before the wait.

#define EARLY_OR_LATE(late, early, pattern)                         \
  KERNEL late(float* y, const float* x) { pattern<false>(y, x); }   \
  KERNEL early(float* y, const float* x) { pattern<true>(y, x); }

template <bool Early>
__device__ void sum_partials(float* y, const float* x) {
  INDEX;
  if (!Early) WAIT;
  const float v = x[t] + x[t + 128];
  if (Early) WAIT;
  y[i] = v;
}
EARLY_OR_LATE(sums_partials, sums_partials_first, sum_partials)
template <bool Early>
__device__ void update(float* y, const float* x) {
  INDEX;
  if (!Early) WAIT;
  atomicAdd(y + i, 1.0f);
  if (Early) WAIT;
}
EARLY_OR_LATE(updates, updates_first, update)
template <bool Early>
__device__ void store_vectors(float* y, const float* x) {
  INDEX;
  if (!Early) WAIT;
  if (t % 4 == 0) reinterpret_cast<float4*>(y)[i / 4] = make_float4(1, 2, 3, 4);
  if (Early) WAIT;
}
EARLY_OR_LATE(stores_vectors, stores_vectors_first, store_vectors)
template <bool Early>
__device__ void read_in_last_block(float* y, const float* x) {
  INDEX;
  float v = 0;
  if (Early && blockIdx.x == 1) v = x[i];
  WAIT;
  y[i] = v + x[i];
}
EARLY_OR_LATE(reads_in_all_blocks, reads_first_in_last_block, read_in_last_block)
template <bool Early>
__device__ void read_in_loop(float* y, const float* x) {
  INDEX;
  float v = 0;
  for (int k = 0; k < 4; ++k) {
    if (k == (Early ? 1 : 0)) WAIT;
    v += x[(i + k) % 256];
  }
  y[i] = v;
}
EARLY_OR_LATE(waits_in_first_turn, waits_in_second_turn, read_in_loop)
template <bool Early>
__device__ void wait_by_data(float* y, const float* x) {
  INDEX;
  if (!Early || threadIdx.x < 48) WAIT;
  y[i] = x[i];
}
EARLY_OR_LATE(waits_in_all_warps, waits_in_one_and_a_half_warps, wait_by_data)

// Updates of one place, with scopes that have no thread of another grid.
KERNEL counts_for_block(float* y) { atomicAdd_block(y, 1.0f); }
KERNEL counts_for_cluster(float* y) {
  asm volatile("red.relaxed.cluster.global.add.f32 [%0], 0f3F800000;" ::"l"(y) : "memory");
}
KERNEL counts_for_block_first(float* y) {
  atomicAdd_block(y, 1.0f);
  WAIT;
}
KERNEL counts_for_block_behind_wait(float* y) {
  INDEX;
  WAIT;
  atomicAdd_block(y + i, 1.0f);
}
KERNEL looks_for_block_first(float* y, const float* x) {
  INDEX;
  unsigned v;
  asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(v) : "l"(x) : "memory");
  WAIT;
  y[i] = static_cast<float>(v);
}
