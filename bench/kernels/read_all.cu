// Reads all there is: what the memory gives at the most.
extern "C" __global__ void read_all(const uint4* from, unsigned long long count, unsigned* sink) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned seen = 0;
  for (; i + 7 * threads < count; i += 8 * threads) {
    uint4 part[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) part[k] = from[i + k * threads];
#pragma unroll
    for (int k = 0; k < 8; ++k) seen |= part[k].x ^ part[k].y ^ part[k].z ^ part[k].w;
  }
  for (; i < count; i += threads) seen |= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
  if (seen == 0x12345678u) *sink = seen;
}
