#pragma once

// A product of weights and one vector, as fast as memory gives the weights.
//
// The weights' rows come in pairs. A block has an equal share of the pairs. Its warps divide the
// bytes of that share evenly, whatever rows they are in, and each warp streams its part through a
// ring of bulk copies in shared memory. Weights are never written, so the ring fills before the
// wait. A row that several warps have parts of is summed up in their order: results do not depend
// on timing.
#include <cuda_bf16.h>

#include <baton/device/pdl.cuh>

#include "shared.cuh"

namespace llama {

constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = 16;  // of a block
constexpr unsigned kThreads = kWarp * kWarps;
constexpr unsigned kPiece =
    1024;  // elements that one bulk copy moves: 2 KiB, or less at a row's end

__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// The dot product of eight bf16 each.
__device__ __forceinline__ float dot(const uint4& a, const uint4& b, float sum) {
  const auto* x = reinterpret_cast<const __nv_bfloat162*>(&a);
  const auto* y = reinterpret_cast<const __nv_bfloat162*>(&b);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 p = __bfloat1622float2(x[i]);
    const float2 q = __bfloat1622float2(y[i]);
    sum = fmaf(p.x, q.x, sum);
    sum = fmaf(p.y, q.y, sum);
  }
  return sum;
}

// One warp's ring: `stages` pieces and an mbarrier for each of them.
class Ring {
 public:
  __device__ Ring(char* pieces, unsigned long long* barriers, unsigned stages)
      : pieces_(pieces), barriers_(barriers), stages_(stages) {
    if (threadIdx.x % kWarp == 0) {
      // Weights are read once: their lines in L2 may go first.
      asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy_));
      for (unsigned i = 0; i < stages; ++i) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barriers + i)));
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
  }

  // Starts the copy of one piece of `count` elements into `slot`. By one lane.
  __device__ void fetch(unsigned slot, const __nv_bfloat16* from, unsigned count) const {
    const unsigned barrier = shared_address(barriers_ + slot);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(count * 2)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(pieces_ + slot * (kPiece * 2))),
        "l"(__cvta_generic_to_global(from)), "r"(count * 2), "r"(barrier), "l"(policy_)
        : "memory");
  }

  // Waits for the piece in `slot`, which is the ring's `turn`-th one there, from 0.
  __device__ const uint4* await(unsigned slot, unsigned turn) const {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(shared_address(barriers_ + slot)),
        "r"(turn & 1)
        : "memory");
    return reinterpret_cast<const uint4*>(pieces_ + slot * (kPiece * 2));
  }

  __device__ unsigned stages() const { return stages_; }

 private:
  char* pieces_;
  unsigned long long* barriers_;
  unsigned stages_;
  unsigned long long policy_ = 0;
};

// What a warp streams: a run of the pieces of its block's pairs.
struct Share {
  unsigned first, last;  // the block's pairs
  unsigned row_pieces, pieces;
  unsigned begin, end;  // the warp's pieces

  __device__ Share(unsigned units, unsigned columns)
      : first(blockIdx.x * units / gridDim.x),
        last((blockIdx.x + 1) * units / gridDim.x),
        row_pieces((columns + kPiece - 1) / kPiece),
        pieces(2 * (last - first) * row_pieces),
        begin(threadIdx.x / kWarp * pieces / kWarps),
        end((threadIdx.x / kWarp + 1) * pieces / kWarps) {}

  // Where a piece of the block begins.
  template <class Rows>
  __device__ const __nv_bfloat16* at(const Rows& rows, unsigned piece) const {
    const unsigned row = piece / row_pieces;
    return rows.row(first + row / 2, row % 2) + piece % row_pieces * kPiece;
  }
};

// Asks L2 for pieces of a later product of as many blocks: for each warp `count` of them, at most
// 32, after the first `stages` ones, which its ring will fetch itself.
template <class Rows>
__device__ __forceinline__ void prefetch_pairs(const Rows& rows, unsigned units, unsigned columns,
                                               unsigned stages, unsigned count) {
  const Share share(units, columns);
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned piece = share.begin + stages + lane;
  if (lane >= count || piece >= share.end) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(
                   __cvta_generic_to_global(share.at(rows, piece))),
               "r"(kPiece * 2));
}

// Parts of a row's sum that follow one another in shared memory.
struct Span {
  unsigned from, to;
  __device__ float sum(const float* parts) const {
    float total = parts[from];
#pragma unroll 1
    for (unsigned i = from + 1; i < to; ++i) total += parts[i];
    return total;
  }
};
struct Spans {
  Span first, second;
};

// Streams the pairs of rows of `work` and finishes each of them. `columns` is a multiple of kPiece.
// Without kWhole it is one of 256: the last piece of a row may be shorter than the others.
// `work` has
//   row(unit, which)     the first or second row of a pair
//   ask_ahead()          may ask L2 for weights of later launches, before the wait
//   prepare(to)          before the wait: may put there what vector(to) needs
//   early(unit)          what finishing a pair needs of weights, read before the wait
//   vector(to)           called after the wait by all threads: puts the vector there, as bf16
//   late(unit)           what finishing a pair needs of other memory, read before the sums are
//   known finish(unit, early, late, first, second)
// The next launch may start at once: its blocks fill their rings, and wait.
template <bool kWhole = true, class Work>
__device__ __forceinline__ void stream_pairs(Work& work, unsigned units, unsigned columns,
                                             unsigned stages) {
  extern __shared__ __align__(128) char memory[];
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const Share share(units, columns);
  const unsigned first = share.first, last = share.last, row_pieces = share.row_pieces,
                 pieces = share.pieces, begin = share.begin, end = share.end;

  // The rings, the vector, the mbarriers, and the parts of sums: one for each row and warp that
  // meet, so a part's number is that of its row and that of its warp together.
  char* const rings = memory;
  uint4* const vector = reinterpret_cast<uint4*>(rings + kWarps * stages * kPiece * 2);
  auto* const barriers = reinterpret_cast<unsigned long long*>(vector + columns / 8);
  float* const parts = reinterpret_cast<float*>(barriers + kWarps * stages);

  baton::device::pdl_trigger();
  const Ring ring(rings + warp * stages * kPiece * 2, barriers + warp * stages, stages);
  // What the next copy brings.
  unsigned next = begin;
  unsigned next_row = begin / row_pieces, next_column = begin % row_pieces;
  const auto fetch = [&](unsigned slot) {
    if (next >= end) return;
    if (lane == 0) {
      ring.fetch(slot, work.row(first + next_row / 2, next_row % 2) + next_column * kPiece,
                 kWhole ? kPiece : min(kPiece, columns - next_column * kPiece));
    }
    ++next;
    if (++next_column == row_pieces) {
      next_column = 0;
      ++next_row;
    }
  };
#pragma unroll 1
  for (unsigned slot = 0; slot < stages; ++slot) fetch(slot);
  work.ask_ahead();
  work.prepare(vector);
  // A warp without pieces leaves its part of a row 0.
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < 2 * (last - first) + kWarps; i += kThreads) parts[i] = 0;
  // The parts of a pair's sums: of the warps whose pieces meet those of the row.
  const auto warp_of = [&](unsigned piece) { return ((piece + 1) * kWarps - 1) / pieces; };
  const auto span_of = [&](unsigned of) {
    const unsigned from_piece = of * row_pieces;
    return Span{of + warp_of(from_piece), of + warp_of(from_piece + row_pieces - 1) + 1};
  };
  const auto spans_of = [&](unsigned unit) {
    return Spans{span_of(2 * (unit - first)), span_of(2 * (unit - first) + 1)};
  };
  // A thread knows the first pair that it will finish.
  const unsigned own = first + threadIdx.x;
  typename Work::Early early{};
  Spans spans{};
  if (own < last) {
    early = work.early(own);
    spans = spans_of(own);
  }

  baton::device::pdl_wait();
  work.vector(vector);
  typename Work::Late late{};
  if (own < last) late = work.late(own);
  __syncthreads();

  unsigned row = begin / row_pieces, column = begin % row_pieces;
  unsigned slot = 0, turn = 0;
  float sum = 0;
  for (unsigned piece = begin; piece < end; ++piece) {
    const uint4* const weights = ring.await(slot, turn);
    const uint4* const values = vector + column * (kPiece / 8);
    const unsigned left = columns / 8 - column * (kPiece / 8);
    if (kWhole || left >= kPiece / 8) {
#pragma unroll
      for (unsigned i = lane; i < kPiece / 8; i += kWarp) sum = dot(weights[i], values[i], sum);
    } else {
#pragma unroll 1
      for (unsigned i = lane; i < left; i += kWarp) sum = dot(weights[i], values[i], sum);
    }
    __syncwarp();
    fetch(slot);
    if (++slot == stages) {
      slot = 0;
      ++turn;
    }
    if (++column == row_pieces || piece + 1 == end) {
      sum = warp_sum(sum);
      if (lane == 0) parts[row + warp] = sum;
      sum = 0;
    }
    if (column == row_pieces) {
      column = 0;
      ++row;
    }
  }
  __syncthreads();

  for (unsigned unit = own; unit < last; unit += kThreads) {
    if (unit != own) {
      early = work.early(unit);
      late = work.late(unit);
      spans = spans_of(unit);
    }
    work.finish(unit, early, late, spans.first.sum(parts), spans.second.sum(parts));
  }
}

// Root mean square norm of x. Products are linear, so they take x times the norm's weights, as
// bf16, and only their sums are scaled: no thread waits for the mean square before the product
// begins.
class Norm {
 public:
  __device__ Norm(const __nv_bfloat16* weight, unsigned columns, float epsilon, float* partial)
      : weight_(weight),
        partial_(partial),
        columns_(columns),
        share_(__fdividef(1.0f, static_cast<float>(columns))),
        epsilon_(epsilon) {}

  // Copies the weights to where apply() will take them. A thread waits for its own alone.
  __device__ void prepare(uint4* to) const {
    const auto* from = reinterpret_cast<const uint4*>(weight_);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < columns_ / 8; i += kThreads) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)),
                   "l"(__cvta_generic_to_global(from + i))
                   : "memory");
    }
  }

  // `load(i, to)` gives elements 8*i to 8*i + 7 of x. A barrier comes before scale().
  template <class Load>
  __device__ void apply(uint4* to, Load load) const {
    float squares = 0;
    asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < columns_ / 8; i += kThreads) {
      float x[8];
      load(i, x);
      uint4 out = to[i];
      auto* const pairs = reinterpret_cast<__nv_bfloat162*>(&out);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float low = x[2 * k], high = x[2 * k + 1];
        squares = fmaf(low, low, fmaf(high, high, squares));
        const float2 w = __bfloat1622float2(pairs[k]);
        pairs[k] = __floats2bfloat162_rn(low * w.x, high * w.y);
      }
      to[i] = out;
    }
    squares = warp_sum(squares);
    if (threadIdx.x % kWarp == 0) partial_[threadIdx.x / kWarp] = squares;
  }
  __device__ void apply_to(uint4* to, const float* x) const {
    apply(to, [&](unsigned i, float(&out)[8]) {
      const auto* from = reinterpret_cast<const float4*>(x) + 2 * i;
      reinterpret_cast<float4*>(out)[0] = from[0];
      reinterpret_cast<float4*>(out)[1] = from[1];
    });
  }

  // What the sums are multiplied by.
  __device__ float scale() const {
    float total = 0;
#pragma unroll
    for (unsigned i = 0; i < kWarps / 4; ++i) {
      const float4 four = reinterpret_cast<const float4*>(partial_)[i];
      total += (four.x + four.y) + (four.z + four.w);
    }
    return rsqrtf(total * share_ + epsilon_);
  }

 private:
  const __nv_bfloat16* weight_;
  float* partial_;  // kWarps floats in shared memory
  unsigned columns_;
  float share_;  // of a column in the mean
  float epsilon_;
};

struct Nothing {};

// Pairs of rows that follow one another.
struct Consecutive {
  const __nv_bfloat16* w;
  unsigned columns;

  __device__ const __nv_bfloat16* row(unsigned unit, unsigned which) const {
    return w + static_cast<unsigned long long>(2 * unit + which) * columns;
  }
};

}  // namespace llama
