#pragma once

#include "sim/engine/run/exec.h"

namespace baton::sim {

enum class SimdOp : std::uint8_t { kAdd, kSub, kAverage, kAbsDiff, kMin, kMax, kSet };

// What a SIMD video instruction does: vadd4.u32.u32.u32.add and the like (PTX ISA 9.0, section
// 9.7.17). Lies in Insn::imm.
struct SimdSpec {
  SimdOp op = SimdOp::kAdd;
  std::uint8_t parts = 4;  // 2 or 4
  bool signed_result = false;
  bool signed_a = false;
  bool signed_b = false;
  bool saturates = false;
  bool accumulates = false;  // .add: the sum of the parts and c
  std::uint8_t compare = 0;  // vset: a Compare
};
static_assert(sizeof(SimdSpec) == 8);

// r[0] = op(r[1], r[2]) part by part, with r[3] added or merged.
const Insn* op_simd_video(Exec* x, const Insn* i);

}  // namespace baton::sim
