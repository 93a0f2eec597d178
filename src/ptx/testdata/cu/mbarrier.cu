// mbarriers, bulk copies, scopes of inline assembly with repeated labels.
// targets: sm_90 sm_90a
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "  @done bra finished;\n"
      "  bra again;\n"
      "finished:\n"
      "}" ::"r"(barrier),
      "r"(parity));
}
extern "C" __global__ void bulk(const char* in, char* out, int bytes) {
  extern __shared__ __align__(128) char buffer[];
  __shared__ unsigned long long barrier;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
  unsigned long long state;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(bar), "r"(bytes));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(to),
        "l"(in), "r"(bytes), "r"(bar)
        : "memory");
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; ++i) wait(bar, i & 1);
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(to),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;"
                 : "=l"(state)
                 : "r"(bar));
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar));
    out[bytes] = static_cast<char>(state);
  }
}
