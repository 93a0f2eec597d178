// Tensor copies, wgmma, setmaxnreg, multicast: Hopper's own instructions.
// targets: sm_90a
struct alignas(64) Map {
  unsigned long long words[16];
};
extern "C" __global__ void __launch_bounds__(128) gemm(const __grid_constant__ Map map, float* out,
                                                       int k, unsigned long long policy) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ unsigned long long barrier;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(smem));
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(&map), "r"(bar), "r"(k), "r"(0), "l"(policy)
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %3, %3, %4}], [%2], {%5, %6}, %7;" ::"r"(to),
        "l"(&map), "r"(bar), "r"(k), "r"(0), "h"((short)1), "h"((short)2), "h"((short)3)
        : "memory");
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1;"
      "\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(policy), "l"(policy + 2), "r"(k));
  asm volatile("wgmma.commit_group.sync.aligned;");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async;");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
                     &map),
                 "r"(to), "r"(k), "r"(8)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%2}], "
                 "[%1];" ::"l"(&map),
                 "r"(to), "r"(k)
                 : "memory");
  }
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
