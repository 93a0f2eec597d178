// What baton/device/pdl.cuh gives kernels. The include needs no path.
#include <baton/device/pdl.cuh>

namespace device = baton::device;

// A link of a chain: doubles and adds one. `weights` are read early.
extern "C" __global__ void link(const float* __restrict__ weights, const float* from, float* to,
                                unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  device::prefetch_l2(weights, count * sizeof(float));
  const float weight = i < count ? weights[i] : 0;
  device::pdl_wait();
  const float value = i < count ? device::pdl_load(from + i) : 0;
  device::pdl_trigger();
  if (i < count) to[i] = value * 2 + weight;
}

// The same over weights that are copied to shared memory before the wait, a piece each block.
extern "C" __global__ void link_shared(const float* __restrict__ weights, const float* from,
                                       float* to) {
  __shared__ __align__(16) float mine[128];
  const unsigned first = blockIdx.x * 128;
  device::prefetch_shared(mine, weights + first, sizeof mine);
  device::prefetch_shared_wait();
  device::pdl_wait();
  __syncthreads();
  const unsigned i = threadIdx.x;
  to[first + i] = device::pdl_load(from + first + i) * 2 + mine[i];
}

struct Three {
  unsigned short a, b;
};

// Every size that pdl_load takes.
extern "C" __global__ void loads(const unsigned char* one, const Three* two_and_two,
                                 const double* eight, const float4* sixteen, double* out) {
  device::pdl_wait();
  const Three both = device::pdl_load(two_and_two);
  const float4 four = device::pdl_load(sixteen);
  out[0] = device::pdl_load(one + 1);
  out[1] = both.a;
  out[2] = both.b;
  out[3] = device::pdl_load(&two_and_two[1].b);
  out[4] = device::pdl_load(eight + 1);
  out[5] = four.x;
  out[6] = four.w;
}

// What the target says of itself.
extern "C" __global__ void has(int* out) {
  out[0] = device::has_pdl();
  out[1] = BATON_HAS_PDL;
}
