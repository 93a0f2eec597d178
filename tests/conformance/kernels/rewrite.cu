#include <baton/device/pdl.cuh>

// Stands between kernels that are rewritten: takes what the one before wrote, and gives the next one
// what it reads. `const` and `__restrict__` make the loads non-coherent ones.
extern "C" __global__ void copy(const unsigned* __restrict__ from, unsigned* __restrict__ to,
                                unsigned words) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < words) to[i] = from[i];
}

// Kernels that wait themselves, and whose loads after the wait are non-coherent ones all the same.
extern "C" __global__ void waits(const unsigned* __restrict__ from, unsigned* __restrict__ to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  baton::device::pdl_wait();
  to[i] = __ldg(from + i) * 3;
}

extern "C" __global__ void waits_and_triggers(const uint4* __restrict__ from,
                                              uint4* __restrict__ to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  baton::device::pdl_wait();
  uint4 value = __ldg(from + i);
  baton::device::pdl_trigger();
  value.x += value.w;
  to[i] = value;
}

extern "C" __global__ void leader_waits(const unsigned* __restrict__ from,
                                        unsigned* __restrict__ to, unsigned words) {
  if (threadIdx.x == 0) baton::device::pdl_wait();
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    to[i] = __ldg(from + i) ^ 5;
  }
}
