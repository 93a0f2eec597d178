// Ends a sequence: at the end token, or when there is no room for another one.
#include <baton/device/pdl.cuh>

extern "C" __global__ void stop(const int* token, const int* position, int* go, int end, int most) {
  baton::device::pdl_wait();
  if (*token == end || *position == most) *go = 0;
}
