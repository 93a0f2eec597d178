// Shuffles, votes, matches, reductions, named barriers.
// targets: sm_80 sm_90
extern "C" __global__ void warps(float* f, int* i, unsigned mask) {
  float x = f[threadIdx.x];
  for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffff, x, d);
  x += __shfl_sync(mask, x, 3, 8) + __shfl_up_sync(mask, x, 1) + __shfl_down_sync(mask, x, 2, 16);
  int n = i[threadIdx.x];
  unsigned votes = __ballot_sync(mask, n > 3);
  if (__all_sync(mask, n)) votes += __popc(__activemask());
  if (__any_sync(mask, n == 9)) votes += __ffs(votes) + __clz(n) + __brev(n);
  int predicate;
  votes ^= __match_any_sync(mask, n) ^ __match_all_sync(mask, n, &predicate);
  votes += __reduce_add_sync(mask, n) + __reduce_xor_sync(mask, votes);
  __syncwarp(mask);
  if (__syncthreads_or(predicate)) votes += __syncthreads_count(n);
  votes += __byte_perm(n, votes, 0x4321) + __funnelshift_l(n, votes, 7) + __dp4a(n, n, n);
  asm volatile("bar.sync 2, 64;\n\tbar.arrive 3, 128;" ::: "memory");
  f[threadIdx.x] = x;
  i[threadIdx.x] = static_cast<int>(votes);
}
