// Launches of branches that events order.
#include <baton/device/pdl.cuh>

// to[i] = from[i] + 1. Triggers at once, and takes its time between the wait and the store: who
// does not wait for its end reads what was there before.
extern "C" __global__ void slow(const unsigned* from, unsigned* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  baton::device::pdl_trigger();
  baton::device::pdl_wait();
  const unsigned value = from[i];
  for (unsigned turn = 0; turn < 20; ++turn) __nanosleep(1000);
  to[i] = value + 1;
}

// The same, without a delay.
extern "C" __global__ void late(const unsigned* from, unsigned* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  baton::device::pdl_wait();
  to[i] = from[i] + 1;
  baton::device::pdl_trigger();
}
