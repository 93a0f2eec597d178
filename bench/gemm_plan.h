#pragma once

#include <cstdint>
#include <string>

#include "baton/program.h"
#include "gemm_shape.h"

namespace baton::bench {

// How the kernel of kernels/gemm_prefetch.cu is cut for a shape; the names are its macros'.
struct GemmPlan {
  int rows = 0, warp_rows = 0, k_warps = 0, split = 0, boxes = 0, stages = 0;

  std::int64_t threads() const { return 32 * (rows / warp_rows * k_warps + 1); }
  std::int64_t blocks(const GemmShape& shape) const { return shape.rows / rows * split; }
  std::int64_t shared(const GemmShape& shape) const;  // dynamic, in bytes
};

// What the planner may be told; 0 leaves it to it.
struct GemmTuning {
  int rows = 0, stages = 0;
  int split = 1;
  int warps = 8;           // that multiply, at the most, unless the rows alone take more
  int carveout = 100;      // of shared memory, in percent, that norms ask for too
  int shared = 216 << 10;  // bytes a block at the most; a block of the norm must fit beside it
  int fill = 32 << 10;     // bytes of weights a block that are fetched before the wait
};

// One wave of blocks that all have the same to read. Throws kInvalidInput where the shape cannot be
// cut so.
GemmPlan plan_gemm(const GemmShape& shape, const GemmTuning& tuning, std::uint32_t processors);

// What differs between arms.
struct GemmVariant {
  enum class Trigger : std::uint8_t { kNone, kTop, kLoads };
  Trigger trigger = Trigger::kNone;  // where the norm lets the product in
  bool early = false;                // weights are fetched before the wait
};
// Macros of kernels/gemm_prefetch.cu.
std::string gemm_prelude(const GemmShape& shape, const GemmPlan& plan, const GemmTuning& tuning,
                         const GemmVariant& variant);

// All pairs. Where they are `chained`, norms too may start early; else each pair stands between
// full edges.
Program gemm_program(const GemmShape& shape, const GemmPlan& plan, const GemmTuning& tuning,
                     const GemmVariant& variant, bool chained);

}  // namespace baton::bench
