// Kernels about multiplication by a warpgroup: its fences, its groups, and what it has in use.

struct Product {
  float d[4] = {};
  unsigned long long a, b;
};

__device__ __forceinline__ unsigned long long matrix_at(const void* tile, unsigned leading,
                                                        unsigned stride) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  return (at & 0x3ffff) >> 4 | static_cast<unsigned long long>(leading / 16) << 16 |
         static_cast<unsigned long long>(stride / 16) << 32;
}
__device__ __forceinline__ void fence_registers() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void multiply(Product& p) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.eq.u32 p, 1, 1;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, "
      "0;\n}"
      : "+f"(p.d[0]), "+f"(p.d[1]), "+f"(p.d[2]), "+f"(p.d[3])
      : "l"(p.a), "l"(p.b)
      : "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void wait_products(Product& p) {
  asm volatile("wgmma.wait_group.sync.aligned %4;"
               : "+f"(p.d[0]), "+f"(p.d[1]), "+f"(p.d[2]), "+f"(p.d[3])
               : "n"(kLeft)
               : "memory");
}

constexpr unsigned kLeftWords = 64 * 16 / 2, kTileWords = kLeftWords + 8 * 16 / 2;
__device__ __forceinline__ void fill(unsigned* tile, unsigned bits) {
  for (unsigned k = threadIdx.x; k < kTileWords; k += blockDim.x) tile[k] = bits;
}
__device__ __forceinline__ Product product_of(const unsigned* tile) {
  Product p;
  p.a = matrix_at(tile, 1024, 128);
  p.b = matrix_at(tile + kLeftWords, 128, 128);
  return p;
}
__device__ __forceinline__ void fence_every_proxy() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

KERNEL multiplies(float* y, const float* x) {
  INDEX;
  __shared__ alignas(128) unsigned tile[kTileWords];
  fill(tile, 0x3c003c00);
  fence_every_proxy();
  __syncthreads();
  Product p = product_of(tile);
  p.d[0] = x[i];
  fence_registers();
  multiply(p);
  multiply(p);
  commit_products();
  wait_products<0>(p);
  y[i] = p.d[0] + p.d[1];
}
KERNEL multiplies_without_fence(float* y, const float* x) {
  INDEX;
  __shared__ alignas(128) unsigned tile[kTileWords];
  fill(tile, 0x3c003c00);
  fence_every_proxy();
  __syncthreads();
  Product p = product_of(tile);
  p.d[0] = x[i];
  multiply(p);
  commit_products();
  wait_products<0>(p);
  y[i] = p.d[0] + p.d[1];
}
KERNEL multiplies_without_proxy_fence(float* y, const float* x) {
  INDEX;
  __shared__ alignas(128) unsigned tile[kTileWords];
  fill(tile, 0x3c003c00);
  __syncthreads();
  Product p = product_of(tile);
  p.d[0] = x[i];
  fence_registers();
  multiply(p);
  commit_products();
  wait_products<0>(p);
  y[i] = p.d[0] + p.d[1];
}
KERNEL multiplies_and_reads_early(float* y, const float* x) {
  INDEX;
  __shared__ alignas(128) unsigned tile[kTileWords];
  fill(tile, 0x3c003c00);
  fence_every_proxy();
  __syncthreads();
  Product p = product_of(tile);
  p.d[0] = x[i];
  fence_registers();
  multiply(p);
  commit_products();
  y[i] = p.d[0] + p.d[1];
  wait_products<0>(p);
}
KERNEL multiplies_one_group_short(float* y, const float* x) {
  INDEX;
  __shared__ alignas(128) unsigned tile[kTileWords];
  fill(tile, 0x3c003c00);
  fence_every_proxy();
  __syncthreads();
  Product p = product_of(tile);
  p.d[0] = x[i];
  fence_registers();
  multiply(p);
  commit_products();
  multiply(p);
  commit_products();
  wait_products<1>(p);
  y[i] = p.d[0] + p.d[1];
}
// Two stages; each is filled again once the product that reads it is over, or before.
template <int kLeft>
__device__ void multiply_in_stages(float* y, const float* x) {
  INDEX;
  __shared__ alignas(128) unsigned tiles[2][kTileWords];
  fill(tiles[0], 0x3c003c00);
  fill(tiles[1], 0x3c003c00);
  fence_every_proxy();
  __syncthreads();
  Product p = product_of(tiles[0]);
  const Product second = product_of(tiles[1]);
  p.d[0] = x[i];
#pragma unroll 1
  for (int step = 0; step < 4; ++step) {
    Product turn = step % 2 == 0 ? product_of(tiles[0]) : second;
    p.a = turn.a;
    p.b = turn.b;
    fence_registers();
    multiply(p);
    commit_products();
    wait_products<kLeft>(p);
    __syncthreads();
    fill(tiles[step % 2], 0x40004000);
    fence_every_proxy();
    __syncthreads();
  }
  wait_products<0>(p);
  y[i] = p.d[0] + p.d[1];
}
KERNEL multiplies_in_stages(float* y, const float* x) {
  multiply_in_stages<0>(y, x);
}
KERNEL multiplies_and_refills_early(float* y, const float* x) {
  multiply_in_stages<1>(y, x);
}
