// Matrix kernels of sim_bench.cc. sim_matrix.ptx is made from this file by
//   nvcc --ptx -arch=compute_90a -o sim_matrix.ptx sim_matrix.cu

// Each warp multiplies 16 x 16 by 16 x 8 in half precision `times` over, with sums in registers.
extern "C" __global__ void mma(float* out, int times) {
  float d[4] = {};
  const unsigned a = 0x3c003c00u, b = 0x3c003c00u + threadIdx.x;
#pragma unroll 8
  for (int k = 0; k < times; ++k) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%5, %5}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a), "r"(b));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

__device__ __forceinline__ unsigned long long tile_at(const void* tile) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  // A swizzle of 128 bytes, 1024 bytes from eight rows to the next.
  return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// C = A * B for bf16: a is m x k, b is n x k, both row by row, for a square of `size`, a multiple of
// 128. A warpgroup computes 64 x 128 sums in steps of 64.
extern "C" __global__ void __launch_bounds__(128) wgmma(float* c, const uint4* a, const uint4* b, int size) {
  __shared__ alignas(1024) uint4 left[64 * 8];
  __shared__ alignas(1024) uint4 right[128 * 8];
  const int t = threadIdx.x;
  const int row = blockIdx.y * 64, column = blockIdx.x * 128;
  float d[64] = {};
  for (int k = 0; k < size / 8; k += 8) {
    for (int e = t; e < 64 * 8; e += 128) {
      left[e ^ (e / 8 % 8)] = a[(row + e / 8) * (size / 8) + k + e % 8];
    }
    for (int e = t; e < 128 * 8; e += 128) {
      right[e ^ (e / 8 % 8)] = b[(column + e / 8) * (size / 8) + k + e % 8];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const unsigned long long at_left = tile_at(left) + step * 2, at_right = tile_at(right) + step * 2;
#define D4(k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3])
#define D16(k) D4(k), D4(k + 4), D4(k + 8), D4(k + 12)
      asm volatile(
          "{\n.reg .pred p;\nsetp.eq.u32 p, 1, 1;\n"
          "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, "
          "%8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
          "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "
          "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
          "%62, %63}, %64, %65, p, 1, 1, 0, 0;\n}"
          : D16(0), D16(16), D16(32), D16(48)
          : "l"(at_left), "l"(at_right)
          : "memory");
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : D16(0), D16(16), D16(32), D16(48)::"memory");
    __syncthreads();
  }
  for (int r = 0; r < 64; ++r) {
    const int at = row + t / 32 * 16 + t % 32 / 4 + (r % 4 >= 2 ? 8 : 0);
    c[at * size + column + r / 4 * 8 + t % 4 * 2 + r % 2] = d[r];
  }
}
