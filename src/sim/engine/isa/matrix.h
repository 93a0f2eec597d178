#pragma once

#include <cstdint>

#include "sim/engine/run/exec.h"

namespace baton::sim {

// Matrix instructions (PTX ISA 9.0, "Warp Level Matrix Instructions"). The lanes of a warp hold the
// elements of small matrices in their registers.

enum class MatrixType : std::uint8_t {
  kNone,
  kF16,
  kBF16,
  kTF32,
  kF32,
  kF64,
  kE4M3,
  kE5M2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kS32,
};
unsigned bits_of(MatrixType type);

// d = a * b + c for a of m x k, b of k x n elements. Lies in Insn::imm.
//
// Products are exact. Integers are added exactly, modulo 2^32 or saturated in the end. Products of
// f16, bf16, tf32 and fp8 are added to c by fused multiply-adds in single precision, in the order
// of k; a sum in half precision is rounded to nearest even in the end. Hardware adds several at a
// time and cuts bits off, so a result differs from its by at most (k + 1) * 2^-22 * (|c| + sum of
// |a * b|), besides the rounding to d's type. f64 is a chain of fused multiply-adds in the order of
// k.
struct MmaForm {
  std::uint8_t m = 0;
  std::uint8_t n = 0;
  std::uint16_t k = 0;
  MatrixType a = MatrixType::kNone;
  MatrixType b = MatrixType::kNone;
  MatrixType c = MatrixType::kNone;
  MatrixType d = MatrixType::kNone;
};
static_assert(sizeof(MmaForm) == 8);

// Insn::mode of op_mma.
inline constexpr std::uint8_t kMmaSaturates = 1;  // .satfinite of integers
inline constexpr std::uint8_t kMmaAnd = 2;        // .and.popc of bits; else .xor.popc
inline constexpr std::uint8_t kMmaFragments = 4;  // wmma: the layout is ours
// mma.sp: a has k / 2 columns, and a register with metadata says which of k they are. The bits from
// kMmaSelectorShift on are the sparsity selector.
inline constexpr std::uint8_t kMmaSparse = 8;
inline constexpr int kMmaSelectorShift = 4;

// u.list: the registers of d, a, b and c, and, where a is sparse, of the metadata.
const Insn* op_mma(Exec* x, const Insn* i);

// 32-bit registers (64-bit ones for f64) of a lane that hold its part of a matrix.
enum class MatrixPart : std::uint8_t { kA, kB, kC };
unsigned registers_of(const MmaForm& form, MatrixPart part, bool fragments, MatrixType type);

// wmma.load and wmma.store, in Insn::imm.
struct FragmentForm {
  std::uint8_t rows = 0;
  std::uint8_t columns = 0;
  MatrixType type = MatrixType::kNone;
  bool by_column = false;  // elements of a column lie side by side in memory
  bool store = false;
  bool has_stride = false;
  std::uint8_t registers = 0;
  std::uint8_t space = 0;  // a Space
};
static_assert(sizeof(FragmentForm) == 8);
// r[0] the address of 64 bits, r[1] the stride in elements; u.list the registers.
const Insn* op_fragment(Exec* x, const Insn* i);

// ldmatrix and stmatrix of 8x8 matrices of 16-bit elements: r[0] the generic address, then the
// registers; mode how many, with flags.
inline constexpr std::uint8_t kMatrixTransposed = 0x10;
inline constexpr std::uint8_t kMatrixStore = 0x20;
const Insn* op_matrix_rows(Exec* x, const Insn* i);
// movmatrix: r[0] becomes the transpose of r[1].
const Insn* op_transpose(Exec* x, const Insn* i);

// Waits until all live lanes are at the instruction; false, with *next set, while some are not.
bool whole_warp(Exec* x, const Insn* i, const Insn** next);

}  // namespace baton::sim
