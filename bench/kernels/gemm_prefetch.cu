// RMSNorm and a matrix product after it, of few rows: out = norm(in) · weightsᵀ. The weights are
// read once and set the pace, and no kernel writes them, so the product may begin to fetch them while
// the norm still runs. Weights and normed values are bf16, or FP8 (e4m3); the rest is bf16, sums
// are float.
//
//   FP8       1: e4m3; 0: bf16
//   BATCH     rows of `in`, a multiple of 8
//   COLUMNS   of `in` and of the weights: a multiple of 128 bytes of weights, at most 16384
//   ROWS      rows of weights that a block has: a multiple of WARP_ROWS, at most 256
//   WARP_ROWS and that a warp has: 16 or 32
//   K_WARPS   warps that share these rows, each with a part of the columns
//   SPLIT     blocks (a cluster) that share these rows, each with a part of the columns
//   BOXES     runs of 128 bytes of each row in a stage of the ring
//   STAGES    of the ring
//   TRIGGER   where the norm lets the product in: 1 at its top, 2 after its loads, 0 when it ends;
//             with 1 and 2 the product lets the next norm in when its copies are on their way
//   EARLY     stages of the ring that are filled with weights before the wait
#include <cuda_bf16.h>

#include <baton/device/pdl.cuh>

constexpr unsigned kWarp = 32;
constexpr unsigned kFull = 0xffffffffu;
constexpr unsigned kElement = FP8 ? 1 : 2;  // bytes
constexpr unsigned kBoxBytes = 128;         // of a row: what the swizzle spans
constexpr unsigned kBoxColumns = kBoxBytes / kElement;
constexpr unsigned kSteps = COLUMNS / kBoxColumns / BOXES / SPLIT;
constexpr unsigned kWeightBytes = ROWS * kBoxBytes;  // of a box
constexpr unsigned kGivenBytes = BATCH * kBoxBytes;
constexpr unsigned kStageBytes = BOXES * (kWeightBytes + kGivenBytes);
constexpr unsigned kRowWarps = ROWS / WARP_ROWS;
constexpr unsigned kConsumers = kRowWarps * K_WARPS;  // warps; one more fetches
constexpr unsigned kRowTiles = WARP_ROWS / 16;
constexpr unsigned kBatchTiles = BATCH / 8;
// Padding keeps the banks of a fragment's four pairs of columns apart.
constexpr unsigned kPartialStride = ROWS + 4;
constexpr unsigned kNormThreads = 512;

static_assert(COLUMNS % (kBoxColumns * BOXES * SPLIT) == 0, "whole stages");
static_assert(BATCH % 8 == 0 && BATCH % SPLIT == 0 && ROWS % WARP_ROWS == 0, "whole tiles");
static_assert(EARLY <= STAGES && STAGES <= kSteps, "no stage for nothing");
static_assert(BOXES * 4 % K_WARPS == 0, "an equal share of a stage for each warp");
static_assert(K_WARPS * BATCH * kPartialStride * 4 <= STAGES * kStageBytes, "sums fit in the ring");

struct alignas(64) TensorMap {
  char opaque[128];
};

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ float warp_sum(float value) {
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kFull, value, offset);
  }
  return value;
}

// Two floats as two elements, the first one in the low bits.
__device__ __forceinline__ unsigned pack(float low, float high) {
  if (FP8) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
  }
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Two e4m3 as two halves: exact.
__device__ __forceinline__ unsigned halves(unsigned pair) {
  unsigned result;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(result) : "h"(static_cast<unsigned short>(pair)));
  return result;
}

__device__ __forceinline__ float2 bf16_pair(unsigned pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}

// y = x / rms(x) * weight, a row a block. x has rows of `stride` elements, which are taken round
// and round where COLUMNS are more; both are multiples of 8.
extern "C" __global__ void __launch_bounds__(kNormThreads)
    rmsnorm(const uint4* x, const uint4* weight, void* y, unsigned stride) {
  constexpr unsigned kRuns = COLUMNS / 8;  // of eight elements
  constexpr unsigned kEach = (kRuns + kNormThreads - 1) / kNormThreads;
  __shared__ float partial[kNormThreads / kWarp];
  if (TRIGGER == 1) baton::device::pdl_trigger();
  uint4 factors[kEach];
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned run = k * kNormThreads + threadIdx.x;
    factors[k] = run < kRuns ? weight[run] : uint4{};
  }
  baton::device::pdl_wait();
  const uint4* const row = x + static_cast<unsigned long long>(blockIdx.x) * (stride / 8);
  uint4 values[kEach];
  float squares = 0;
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned run = k * kNormThreads + threadIdx.x;
    values[k] = run < kRuns ? row[run % (stride / 8)] : uint4{};
    const unsigned* const words = &values[k].x;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const float2 pair = bf16_pair(words[i]);
      squares = fmaf(pair.x, pair.x, squares);
      squares = fmaf(pair.y, pair.y, squares);
    }
  }
  if (TRIGGER == 2) baton::device::pdl_trigger();
  squares = warp_sum(squares);
  const unsigned lane = threadIdx.x % kWarp;
  if (lane == 0) partial[threadIdx.x / kWarp] = squares;
  __syncthreads();
  const float total = warp_sum(lane < kNormThreads / kWarp ? partial[lane] : 0.0f);
  const float scale = rsqrtf(total / COLUMNS + 1e-5f);
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned run = k * kNormThreads + threadIdx.x;
    if (run >= kRuns) continue;
    const unsigned* const words = &values[k].x;
    const unsigned* const by = &factors[k].x;
    unsigned out[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const float2 pair = bf16_pair(words[i]);
      const float2 factor = bf16_pair(by[i]);
      out[i] = pack(pair.x * scale * factor.x, pair.y * scale * factor.y);
    }
    const unsigned at = blockIdx.x * kRuns + run;
    if (FP8) {
      static_cast<uint2*>(y)[at] = {out[0] | out[1] << 16, out[2] | out[3] << 16};
    } else {
      static_cast<uint4*>(y)[at] = {out[0], out[1], out[2], out[3]};
    }
  }
}

// Barriers of the ring: a stage is full when all its bytes are there, and empty when every warp has
// read it.
__device__ __forceinline__ void await(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void copy_box(unsigned to, const TensorMap& from, unsigned column,
                                         unsigned row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&from), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Four 8 x 16-byte matrices of rows in shared memory, of which each lane names one row.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}
__device__ __forceinline__ void load_matrices(unsigned (&to)[2], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(row));
}

#define MULTIPLY(types)                                                               \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." types                         \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

// Two products of 16 x 16 halves by 16 x 8.
struct Halves {
  unsigned low, high;
};
__device__ __forceinline__ Halves widen(unsigned four) {
  return {halves(four), halves(four >> 16)};
}

// sum += a · b for 32 bytes of columns. On Hopper mma.sync takes e4m3 only by way of halves: here
// that is written out, so that each fragment is widened once and not once for each product. Which
// of a thread's columns are multiplied first does not matter as long as a and b agree.
template <unsigned kRowTiles, unsigned kBatchTiles>
__device__ __forceinline__ void multiply(float (&sums)[kRowTiles][kBatchTiles][4],
                                         const unsigned (&rows)[kRowTiles][4],
                                         const unsigned (&batch)[kBatchTiles][2]) {
#if FP8
  Halves wide[kRowTiles][4];
#pragma unroll
  for (unsigned r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) wide[r][i] = widen(rows[r][i]);
  }
#pragma unroll
  for (unsigned t = 0; t < kBatchTiles; ++t) {
    const Halves first = widen(batch[t][0]), second = widen(batch[t][1]);
#pragma unroll
    for (unsigned r = 0; r < kRowTiles; ++r) {
      float(&sum)[4] = sums[r][t];
      {
        const unsigned a[4] = {wide[r][0].low, wide[r][1].low, wide[r][2].low, wide[r][3].low};
        const unsigned b[2] = {first.low, second.low};
        MULTIPLY("f16.f16");
      }
      {
        const unsigned a[4] = {wide[r][0].high, wide[r][1].high, wide[r][2].high, wide[r][3].high};
        const unsigned b[2] = {first.high, second.high};
        MULTIPLY("f16.f16");
      }
    }
  }
#else
#pragma unroll
  for (unsigned t = 0; t < kBatchTiles; ++t) {
    const unsigned(&b)[2] = batch[t];
#pragma unroll
    for (unsigned r = 0; r < kRowTiles; ++r) {
      const unsigned(&a)[4] = rows[r];
      float(&sum)[4] = sums[r][t];
      MULTIPLY("bf16.bf16");
    }
  }
#endif
}

__device__ __forceinline__ void meet() {
#if SPLIT > 1
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

// Two floats in the shared memory of a block of the cluster.
__device__ __forceinline__ float2 load_partial(unsigned address, unsigned block) {
  float2 value;
#if SPLIT > 1
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
               : "=f"(value.x), "=f"(value.y)
               : "r"(there)
               : "memory");
#else
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(value.x), "=f"(value.y)
               : "r"(address)
               : "memory");
#endif
  return value;
}

// out[b][r] = scale * (given[b] · weights[r]). Boxes of `weights` have ROWS rows, those of `given`
// BATCH, all of 128 bytes with their 16-byte chunks swizzled. Dynamic shared memory is the ring,
// and 1024 bytes more for its alignment. The last warp fetches; the others each multiply WARP_ROWS
// rows by the whole batch, for their part of the columns.
extern "C" __global__ void __launch_bounds__((kConsumers + 1) * kWarp, 1)
    gemm(const __grid_constant__ TensorMap weights, const __grid_constant__ TensorMap given,
         __nv_bfloat16* out, unsigned rows, float scale) {
  extern __shared__ char dynamic[];
  __shared__ unsigned long long full[STAGES], empty[STAGES];
  const unsigned ring = (shared_address(dynamic) + 1023) / 1024 * 1024;
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  const bool fetches = threadIdx.x == kConsumers * kWarp;
  const unsigned first_row = blockIdx.x / SPLIT * ROWS;
  const unsigned part = blockIdx.x % SPLIT;

  const auto full_at = [&](unsigned stage) { return shared_address(full + stage); };
  const auto empty_at = [&](unsigned stage) { return shared_address(empty + stage); };
  const auto fetch_weights = [&](unsigned step) {
    const unsigned stage = step % STAGES;
    expect(full_at(stage), kStageBytes);
#pragma unroll
    for (unsigned box = 0; box < BOXES; ++box) {
      copy_box(ring + stage * kStageBytes + box * kWeightBytes, weights,
               ((part * kSteps + step) * BOXES + box) * kBoxColumns, first_row, full_at(stage));
    }
  };
  const auto fetch_given = [&](unsigned step) {
    const unsigned stage = step % STAGES;
#pragma unroll
    for (unsigned box = 0; box < BOXES; ++box) {
      copy_box(ring + stage * kStageBytes + BOXES * kWeightBytes + box * kGivenBytes, given,
               ((part * kSteps + step) * BOXES + box) * kBoxColumns, 0, full_at(stage));
    }
  };

  if (fetches) {
    for (unsigned stage = 0; stage < STAGES; ++stage) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full_at(stage)) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty_at(stage)), "n"(kConsumers)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (unsigned step = 0; step < EARLY; ++step) fetch_weights(step);
  }
  __syncthreads();
  baton::device::pdl_wait();

  float sums[kRowTiles][kBatchTiles][4] = {};
  if (fetches) {
    for (unsigned step = 0; step < kSteps; ++step) {
      if (step >= STAGES) await(empty_at(step % STAGES), (step / STAGES + 1) % 2);
      if (step >= EARLY) fetch_weights(step);
      fetch_given(step);
    }
    if (TRIGGER) baton::device::pdl_trigger();
  } else if (warp < kConsumers) {
    // Each lane names a row of four matrices, and which half of 32 bytes: of the weights the upper
    // eight rows and the lower ones, then the other half of both; of the batch both halves of eight
    // rows, then of the next eight. A chunk is swizzled by its row.
    const unsigned row = warp % kRowWarps * WARP_ROWS + lane % 16;
    const unsigned row_half = lane / 16;
    const unsigned batch = lane % 8 + lane / 16 * 8;
    const unsigned batch_half = lane / 8 % 2;
    for (unsigned step = 0; step < kSteps; ++step) {
      const unsigned stage = step % STAGES;
      const unsigned here = ring + stage * kStageBytes;
      await(full_at(stage), step / STAGES % 2);
#pragma unroll
      for (unsigned k = 0; k < BOXES * 4 / K_WARPS; ++k) {
        const unsigned slice = k * K_WARPS + warp / kRowWarps;  // of 32 bytes
        const unsigned box = slice / 4, chunk = slice % 4 * 2;
        const unsigned from = here + box * kWeightBytes;
        const unsigned from_given = here + BOXES * kWeightBytes + box * kGivenBytes;
        unsigned a[kRowTiles][4], b[kBatchTiles][2];
#pragma unroll
        for (unsigned r = 0; r < kRowTiles; ++r) {
          load_matrices(a[r],
                        from + (row + r * 16) * kBoxBytes + ((chunk + row_half) ^ row % 8) * 16);
        }
#pragma unroll
        for (unsigned t = 0; t < kBatchTiles; t += 2) {
          const unsigned at = from_given + ((chunk + batch_half) ^ batch % 8) * 16;
          if (t + 1 < kBatchTiles) {
            unsigned both[4];
            load_matrices(both, at + (t * 8 + batch) * kBoxBytes);
            b[t][0] = both[0], b[t][1] = both[1];
            b[t + 1][0] = both[2], b[t + 1][1] = both[3];
          } else {
            load_matrices(b[t], at + (t * 8 + batch % 8) * kBoxBytes);
          }
        }
        multiply(sums, a, b);
      }
      __syncwarp();
      if (lane == 0) arrive(empty_at(stage));
    }
  }

  // All sums meet in shared memory: the ring's, which has been read to its end.
  __syncthreads();
  if (warp < kConsumers) {
    const unsigned row = warp % kRowWarps * WARP_ROWS + lane / 4;
    const unsigned batch = warp / kRowWarps * BATCH + lane % 4 * 2;
#pragma unroll
    for (unsigned r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (unsigned t = 0; t < kBatchTiles; ++t) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned at = (batch + t * 8 + i % 2) * kPartialStride + row + r * 16 + i / 2 * 8;
          asm volatile("st.shared.f32 [%0], %1;" ::"r"(ring + at * 4), "f"(sums[r][t][i])
                       : "memory");
        }
      }
    }
  }
  meet();
  constexpr unsigned kPairs = ROWS / 2;
  for (unsigned i = threadIdx.x; i < BATCH / SPLIT * kPairs; i += blockDim.x) {
    const unsigned batch = part * (BATCH / SPLIT) + i / kPairs, row = i % kPairs * 2;
    float2 sum = {0, 0};
#pragma unroll
    for (unsigned k = 0; k < K_WARPS; ++k) {
#pragma unroll
      for (unsigned block = 0; block < SPLIT; ++block) {
        const unsigned at = (k * BATCH + batch) * kPartialStride + row;
        const float2 value = load_partial(ring + at * 4, block);
        sum.x += value.x;
        sum.y += value.y;
      }
    }
    *reinterpret_cast<__nv_bfloat162*>(out + static_cast<unsigned long long>(batch) * rows +
                                       first_row + row) =
        __floats2bfloat162_rn(scale * sum.x, scale * sum.y);
  }
#if SPLIT > 1
  meet();  // no block leaves while others read what it has
#endif
}
