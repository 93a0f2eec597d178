// Memory, faults, and memory that kernels allocate.

// --- Memory ---
KERNEL past_the_end(float* y, const float* x) { INDEX; y[i + 1] = x[i]; }
KERNEL before_the_start(float* y, const float* x) { INDEX; y[i] = x[i - 1]; }
KERNEL far_away(float* y, const float* x) { INDEX; y[i] = x[i * 1000]; }
KERNEL past_shared(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  y[i] = s[t + 8 * static_cast<int>(gridDim.x)];
}
KERNEL unaligned(float* y, const char* x) {
  INDEX;
  y[i] = *reinterpret_cast<const float*>(x + (i * 4 + 1) % 512);
}
KERNEL unaligned_vector(float* y, const float* x) {
  INDEX;
  const float4 v = reinterpret_cast<const float4*>(x + 1)[i % 32];
  y[i] = v.x + v.y + v.z + v.w;
}
KERNEL unaligned_store(char* y) { *reinterpret_cast<short*>(y + 2 * threadIdx.x + 1) = 1; }
KERNEL reads_unwritten(float* y, const float* z) { INDEX; y[i] = z[i]; }
KERNEL reads_half_written(float* y, float* z) {
  INDEX;
  if (i < 128) z[i] = 1;
  y[i] = z[i];
}
KERNEL reads_unwritten_shared(float* y) {
  INDEX;
  __shared__ float s[128];
  if (t < 64) s[t] = 1;
  __syncthreads();
  y[i] = s[t];
}

// --- Faults ---
KERNEL traps() { asm volatile("trap;"); }
KERNEL asserts(const float* x) { assert(x[threadIdx.x] < 0); }
KERNEL meets_at(int barrier, int threads) { meet(barrier, threads); }
KERNEL counts_in_registers(float* y) {
  INDEX;
  int mine[2] = {t, i}, old;
  asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(mine + t % 2) : "memory");
  y[i] = old + mine[0];
}
KERNEL branches_to(float* y, int way) {
  INDEX;
  int taken = 0;
  asm volatile(
      "{ ways: .branchtargets left, right;\n"
      "brx.idx %1, ways;\n"
      "left: mov.u32 %0, 1; bra done;\n"
      "right: mov.u32 %0, 2;\n"
      "done: }"
      : "=r"(taken)
      : "r"(way));
  y[i] = taken;
}
KERNEL calls_address(unsigned long long address) {
  reinterpret_cast<void (*)()>(address)();
}
KERNEL votes_among(unsigned* y, unsigned members) {
  INDEX;
  y[i] = __ballot_sync(members, t % 2);
}
KERNEL syncs_with(float* y, unsigned members) {
  INDEX;
  __syncwarp(members);
  y[i] = t;
}
KERNEL takes_from(float* y, const float* x, unsigned members, int distance) {
  INDEX;
  y[i] = 1 + __shfl_xor_sync(members, x[i], distance);
}
KERNEL takes_from_half(float* y, const float* x) {
  INDEX;
  if (t % 32 >= 16) return;
  y[i] = 1 + __shfl_xor_sync(0xffffffff, x[i], 16);
}
KERNEL takes_from_halves(float* y, const float* x) {
  INDEX;
  const unsigned mine = t % 32 < 16 ? 0x0000ffff : 0xffff0000;
  y[i] = 1 + __shfl_xor_sync(mine, x[i], 16);
}
KERNEL leaves_absent_out(float* y, const float* x) {
  INDEX;
  const int lane = t % 32;
  if (lane >= 20) return;
  float sum = x[i];
  for (int half = 16; half > 0; half /= 2) {
    const float other = __shfl_down_sync(0xffffffff, sum, half);
    if (lane + half < 20) sum += other;
  }
  y[i] = sum;
}
__device__ __noinline__ float descend(const float* x, int depth) {
  float room[64];
  for (int k = 0; k < 64; ++k) room[k] = x[(k * depth) % 256];
  const float below = depth == 0 ? 0 : descend(x, depth - 1);
  return below + room[depth % 64];
}
KERNEL descends(float* y, const float* x, int depth) {
  INDEX;
  y[i] = descend(x, depth);
}
KERNEL waits_at_nothing() {
  __shared__ unsigned long long never;
  wait_for(&never, 0);
}
KERNEL copies_odd_bytes(float* y, const float* x, unsigned bytes) {
  INDEX;
  __shared__ __align__(16) float s[128];
  __shared__ unsigned long long full;
  if (t != 0) return;
  init_mbarrier(&full, 1);
  copy_bulk(s, x, bytes, &full);
  wait_for(&full, 0);
  y[i] = s[0];
}
KERNEL fetches_texture(float* y, cudaTextureObject_t texture) {
  INDEX;
  y[i] = tex1Dfetch<float>(texture, t);
}
KERNEL adds_as_video(float* y) {
  INDEX;
  int sum;
  asm volatile("vadd.s32.s32.s32 %0, %1, %2;" : "=r"(sum) : "r"(t), "r"(i));
  y[i] = static_cast<float>(sum);
}

// --- Memory that kernels allocate ---
__device__ float* block_of(const float* x, int count) {
  float* block = static_cast<float*>(malloc(count * sizeof(float)));
  for (int k = 0; k < count; ++k) block[k] = x[k];
  return block;
}
KERNEL frees_twice(float* y, const float* x) {
  INDEX;
  float* block = block_of(x, 4);
  y[i] = block[t % 4];
  free(block);
  free(block);
}
KERNEL frees_memory_of_the_host(float* y) {
  INDEX;
  free(y);
}
KERNEL reads_past_its_block(float* y, const float* x) {
  INDEX;
  float* block = block_of(x, 4);
  y[i] = block[t % 4 + 1];
  free(block);
}
KERNEL reads_its_block_once_freed(float* y, const float* x) {
  INDEX;
  volatile float* block = block_of(x, 4);
  free(const_cast<float*>(block));
  y[i] = block[t % 4];
}
KERNEL allocates_and_frees(float* y, const float* x) {
  INDEX;
  float* block = block_of(x, 4);
  y[i] = block[t % 4];
  free(block);
}
__shared__ float* common_block;
KERNEL shares_a_block(float* y, const float* x) {
  INDEX;
  if (t == 0) common_block = block_of(x, 4);
  __syncthreads();
  y[i] = common_block[t % 4];
  __syncthreads();
  if (t == 0) free(common_block);
}
struct alignas(128) Map {
  char bytes[128];
};
__device__ void reduce_by_map(const Map* map, const float* from) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {240}], [%1];" ::"l"(
          map),
      "r"(address_of(from))
      : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL reduces_by_map(const __grid_constant__ Map map) {
  __shared__ __align__(128) float s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  reduce_by_map(&map, s);
}
KERNEL writes_map(const __grid_constant__ Map map, Map* live) {
  TRIGGER;
  if (threadIdx.x == 0 && blockIdx.x == 0) *live = map;
}
__device__ void acquire_map(const Map* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
// Every thread acquires, one copies.
KERNEL reduces_by_map_in_memory(const Map* live, bool acquires) {
  __shared__ __align__(128) float s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  WAIT;
  if (acquires) acquire_map(live);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) reduce_by_map(live, s);
}
// Writes `first` to global memory and copies by it, then `second`. Acquires so many of the two.
KERNEL reduces_by_live_map(const __grid_constant__ Map first, const __grid_constant__ Map second,
                           Map* live, int acquired) {
  __shared__ __align__(128) float s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int k = 0; k < 2; ++k) {
    *live = k == 0 ? first : second;
    if (k < acquired) {
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
      acquire_map(live);
    }
    reduce_by_map(live, s);
  }
}
