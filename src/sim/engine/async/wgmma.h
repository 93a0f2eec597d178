#pragma once

#include <cstdint>

#include "sim/engine/isa/matrix.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// Multiplication by a warpgroup (PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions").
// Four warps multiply together: each has 16 of the 64 rows of a and d, so each does its own part
// when it issues the instruction. The operation is over once all four have issued it:
// wgmma.wait_group waits for that. Until then the judge takes the registers and the shared memory
// for used: SharedWatch::note_product, and wgmma_registers.h.

struct WgmmaForm {
  MatrixType a = MatrixType::kNone;
  MatrixType b = MatrixType::kNone;
  MatrixType d = MatrixType::kNone;
  std::uint8_t groups = 0;  // of eight columns of b and d
  std::uint8_t flags = 0;
  std::uint8_t selector = 0;  // of sparse matrices
  std::uint16_t k = 0;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  unsigned columns() const { return 8u * groups; }
  // 32-bit registers of a lane.
  unsigned registers_of_d() const { return d == MatrixType::kF16 ? 2u * groups : 4u * groups; }
  unsigned registers_of_a() const { return has(kLeftInRegisters) ? 4 : 0; }

  static constexpr std::uint8_t kLeftInRegisters = 1;
  static constexpr std::uint8_t kNegates = 2;  // one of a and b
  static constexpr std::uint8_t kLeftRowsMajor = 4;
  static constexpr std::uint8_t kRightRowsMajor = 8;
  static constexpr std::uint8_t kSaturates = 16;
  static constexpr std::uint8_t kSparse = 32;
};
static_assert(sizeof(WgmmaForm) == 8);

// Of Insn::mode: registers of it are accessed elsewhere while it may be under way, or were accessed
// with no fence in between (wgmma_registers.h).
inline constexpr std::uint8_t kWgmmaIsFollowed = 1;
inline constexpr std::uint8_t kWgmmaMayLackFence = 2;

// r[0] and r[1] the descriptors of a and b, r[2] the predicate that says to add to d, r[3] the
// metadata, r[4] the number of its WgmmaRegisters in the function; u.list: the registers of d, and
// those of a.
const Insn* op_wgmma(Exec* x, const Insn* i);
const Insn* op_wgmma_fence(Exec* x, const Insn* i);
const Insn* op_wgmma_commit(Exec* x, const Insn* i);
// All groups but the last `imm`.
const Insn* op_wgmma_wait(Exec* x, const Insn* i);
// setmaxnreg: changes nothing that a program can see.
const Insn* op_set_registers(Exec* x, const Insn* i);

}  // namespace baton::sim
