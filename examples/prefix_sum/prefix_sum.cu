// The inclusive prefix sum of n integers in two passes over them: first the sum of every tile, then
// the scan of every tile, which starts from the sum of the tiles before it. A block owns a tile of
// kThreads * kEach elements.
constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kEach = 4;
constexpr int kTile = kThreads * kEach;
constexpr int kWarps = kThreads / kWarp;

// The sum of `value` over the block's threads up to and with this one; the sum over all of them in
// `total`. Every thread of the block must call it.
__device__ int block_scan(int value, int& total) {
  __shared__ int warp_sums[kWarps];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value += below;
  }
  if (lane == kWarp - 1) warp_sums[warp] = value;
  __syncthreads();
  int before = 0;
  total = 0;
  for (int i = 0; i < kWarps; ++i) {
    if (i < warp) before += warp_sums[i];
    total += warp_sums[i];
  }
  __syncthreads();  // before the next call writes warp_sums again
  return before + value;
}

// The first pass: sums[tile] = the sum of the tile.
extern "C" __global__ void __launch_bounds__(kThreads)
    tile_sums(const int* __restrict__ in, int* __restrict__ sums, int n) {
  const int first = blockIdx.x * kTile;
  int sum = 0;
  for (int i = first + threadIdx.x; i < min(first + kTile, n); i += kThreads) sum += in[i];
  int total;
  block_scan(sum, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// The second pass: out = the prefix sums.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_tiles(const int* __restrict__ in, const int* __restrict__ sums, int* __restrict__ out,
               int n) {
  int before = 0;
  for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += kThreads) before += sums[tile];
  int start;
  block_scan(before, start);

  const int first = blockIdx.x * kTile + threadIdx.x * kEach;
  int values[kEach];
  int sum = 0;
  for (int i = 0; i < kEach; ++i) {
    values[i] = first + i < n ? in[first + i] : 0;
    sum += values[i];
  }
  int total;
  int running = start + block_scan(sum, total) - sum;
  for (int i = 0; i < kEach; ++i) {
    running += values[i];
    if (first + i < n) out[first + i] = running;
  }
}
