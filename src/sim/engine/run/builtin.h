#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/engine/run/exec.h"

namespace baton::sim {

// A function that kernels call and no module defines. Its handler finds the offsets of the
// parameters in the caller's local memory in r[0] … r[4], and that of the result in r[5], or
// UINT32_MAX.
struct Builtin {
  std::string_view name;
  Handler handler = nullptr;
  std::vector<std::uint32_t> param_bytes;
  std::vector<std::uint32_t> result_bytes;
  bool uses_heap = false;  // the one that kernels allocate from
};

// Null where there is none of the name.
const Builtin* find_builtin(std::string_view name);

const Insn* op_vprintf(Exec* x, const Insn* i);
const Insn* op_assertfail(Exec* x, const Insn* i);
const Insn* op_set_condition(Exec* x, const Insn* i);
const Insn* op_malloc(Exec* x, const Insn* i);
const Insn* op_aligned_malloc(Exec* x, const Insn* i);
const Insn* op_free(Exec* x, const Insn* i);

}  // namespace baton::sim
