// Kernels of two devices that tell each other by flags, which lie in the memory of the reader.
// Flags count blocks.

namespace peers {

enum class Tell { kRelease, kReleaseToDevice, kFence, kDeviceFence, kNothing };
enum class Learn { kAcquire, kAcquireOfDevice, kFence, kDeviceFence, kNothing };

template <Tell How>
__device__ void tell(unsigned* flag) {
  if (How == Tell::kFence) __threadfence_system();
  if (How == Tell::kDeviceFence) __threadfence();
  if (How == Tell::kRelease) {
    asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else if (How == Tell::kReleaseToDevice) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    asm volatile("red.relaxed.sys.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
  }
}

template <Learn How>
__device__ void await(const unsigned* flag, unsigned count) {
  unsigned seen;
  do {
    if (How == Learn::kAcquire) {
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } else if (How == Learn::kAcquireOfDevice) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } else {
      asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    }
  } while (seen < count);
  if (How == Learn::kFence) __threadfence_system();
  if (How == Learn::kDeviceFence) __threadfence();
}

template <Tell How, bool Syncs = true>
__device__ void put(float* y, const float* x, unsigned* flag) {
  INDEX;
  y[i] = x[i];
  if (Syncs) __syncthreads();
  if (t == 0) tell<How>(flag);
}

template <Learn How, bool Syncs = true>
__device__ void get(float* z, const float* y, const unsigned* flag, unsigned count) {
  INDEX;
  if (t == 0) await<How>(flag, count);
  if (Syncs) __syncthreads();
  z[i] = y[i];
}

}  // namespace peers

#define PEER_PUT(name, ...)                                           \
  KERNEL name(float* y, const float* x, float* flag) {                \
    peers::put<__VA_ARGS__>(y, x, reinterpret_cast<unsigned*>(flag)); \
  }
#define PEER_GET(name, ...)                                                        \
  KERNEL name(float* z, const float* y, const float* flag, int count) {            \
    peers::get<__VA_ARGS__>(z, y, reinterpret_cast<const unsigned*>(flag), count); \
  }
PEER_PUT(puts, peers::Tell::kRelease)
PEER_PUT(puts_behind_fence, peers::Tell::kFence)
PEER_PUT(puts_untold, peers::Tell::kNothing)
PEER_PUT(puts_for_device, peers::Tell::kReleaseToDevice)
PEER_PUT(puts_behind_device_fence, peers::Tell::kDeviceFence)
PEER_PUT(puts_without_barrier, peers::Tell::kRelease, false)
PEER_GET(gets, peers::Learn::kAcquire)
PEER_GET(gets_behind_fence, peers::Learn::kFence)
PEER_GET(gets_unlearned, peers::Learn::kNothing)
PEER_GET(gets_for_device, peers::Learn::kAcquireOfDevice)
PEER_GET(gets_behind_device_fence, peers::Learn::kDeviceFence)
PEER_GET(gets_without_barrier, peers::Learn::kAcquire, false)

// Another warp's lane learns of the flag, and tells one lane of this warp alone.
KERNEL gets_by_one_lane(float* z, const float* y, const float* flag, int count) {
  INDEX;
  __shared__ unsigned told;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&told));
  if (t == 0) told = 0;
  __syncthreads();
  if (t == 32) {
    peers::await<peers::Learn::kAcquire>(reinterpret_cast<const unsigned*>(flag), count);
    asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
  } else if (t == 0) {
    unsigned seen;
    do asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    while (seen == 0);
    z[i] = y[i];
  }
  __syncthreads();
  if (t != 0) z[i] = y[i];
}

// y becomes the sum of both devices' y. Slots of two epochs follow each other; a device's flag is
// in its own memory. Blocks tell the same blocks of the other device.
KERNEL exchanges(float* y, float* slots, float* peer_slots, float* flags, float* peer_flags,
                 int epoch, int mask) {
  INDEX;
  const int slot = (epoch & mask) * 256 + i;
  const unsigned b = blockIdx.x;
  peer_slots[slot] = y[i];
  __syncthreads();
  if (t == 0) {
    peers::tell<peers::Tell::kRelease>(reinterpret_cast<unsigned*>(peer_flags) + b);
    peers::await<peers::Learn::kAcquire>(reinterpret_cast<unsigned*>(flags) + b, epoch);
  }
  __syncthreads();
  y[i] += slots[slot];
}
