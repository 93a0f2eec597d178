// cp.async with groups, and with mbarriers.
// targets: sm_80 sm_90
extern "C" __global__ void pipeline(const float4* in, float4* out, int n) {
  __shared__ float4 stage[2][128];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&stage[0][threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.commit_group;");
  for (int k = 1; k < n; ++k) {
    const unsigned next =
        static_cast<unsigned>(__cvta_generic_to_shared(&stage[k & 1][threadIdx.x]));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(next),
                 "l"(in + k * 128 + threadIdx.x), "r"(k < n ? 16 : 0));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[(k - 1) * 128 + threadIdx.x] = stage[(k - 1) & 1][127 - threadIdx.x];
    __syncthreads();
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}
