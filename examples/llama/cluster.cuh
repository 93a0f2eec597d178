#pragma once

// Stores into the shared memory of other blocks of a cluster. The receiver's mbarrier counts their
// bytes, so that it waits for these alone.
#include "shared.cuh"

namespace llama {

// Another block of the cluster, which counts the bytes that arrive.
class Receiver {
 public:
  __device__ Receiver(unsigned rank, const unsigned long long* arrived)
      : rank_(rank), arrived_(map(arrived)) {}

  __device__ void send(const float* to, float4 four) const {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
        "[%5];" ::"r"(map(to)),
        "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w), "r"(arrived_)
        : "memory");
  }
  __device__ void send(const float2* to, float2 two) const {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, "
        "[%3];" ::"r"(map(to)),
        "f"(two.x), "f"(two.y), "r"(arrived_)
        : "memory");
  }

 private:
  // The same place in the receiver's shared memory.
  __device__ unsigned map(const void* here) const {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"(shared_address(here)), "r"(rank_));
    return there;
  }

  unsigned rank_, arrived_;
};

// Prepares to receive `bytes`. By one thread, before the cluster's barrier.
__device__ __forceinline__ void expect(unsigned long long* arrived, unsigned bytes) {
  const unsigned barrier = shared_address(arrived);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void await(const unsigned long long* arrived) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(arrived))
      : "memory");
}

}  // namespace llama
