#pragma once

#include <cstdint>
#include <string>

#include "baton/program.h"

namespace baton::bench {

// out = scale * norm(in) · weightsᵀ, so many times one after the other, each time with other
// weights.
struct GemmShape {
  std::int64_t batch = 0;    // rows of in and out
  std::int64_t rows = 0;     // of the weights: columns of out
  std::int64_t columns = 0;  // of the weights and of the normed values
  bool fp8 = false;          // e4m3 weights and normed values; else bf16
  std::int64_t pairs = 0;

  std::int64_t element() const { return fp8 ? 1 : 2; }
  std::int64_t weights() const { return rows * columns; }  // of one pair, in elements
  std::int64_t outs() const { return batch * rows; }
  // Makes results of weights as the benchmark has them about 1.
  float scale() const;
  std::string name() const;
};

// How the kernel of kernels/gemm_prefetch.cu is cut for a shape; the names are its macros'.
struct GemmPlan {
  int rows = 0, warp_rows = 0, k_warps = 0, split = 0, boxes = 0, stages = 0;

  std::int64_t threads() const { return 32 * (rows / warp_rows * k_warps + 1); }
  std::int64_t blocks(const GemmShape& shape) const { return shape.rows / rows * split; }
  std::int64_t shared(const GemmShape& shape) const;  // dynamic, in bytes
};

// What the planner may be told; 0 leaves it to it.
struct GemmTuning {
  int rows = 0, split = 0, stages = 0, warps = 8;
  int carveout = 100;      // of shared memory, in percent, that norms ask for too
  int shared = 216 << 10;  // bytes a block at the most; a block of the norm must fit beside it
};

// One wave of blocks that all have the same to read. Throws kInvalidInput where the shape cannot be
// cut so.
GemmPlan plan_gemm(const GemmShape& shape, const GemmTuning& tuning, std::uint32_t processors);

// Macros of kernels/gemm_prefetch.cu.
struct GemmVariant {
  bool trigger = false;  // the norm lets the product in at its top
  bool early = false;    // weights are fetched before the wait
};
std::string gemm_prelude(const GemmShape& shape, const GemmPlan& plan, const GemmVariant& variant);

// All pairs. Where they are `chained`, norms too may start early; else each pair stands between
// full edges.
Program gemm_program(const GemmShape& shape, const GemmPlan& plan, const GemmTuning& tuning,
                     const GemmVariant& variant, bool chained);

}  // namespace baton::bench
