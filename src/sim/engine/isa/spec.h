#pragma once

#include <cstdint>

#include "sim/engine/isa/insn.h"

namespace baton::sim {

// PTX's fundamental types, with the packed ones.
enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF16x2,
  kBF16x2,
  kU16x2,
  kS16x2,
  kE4M3x2,
  kE5M2x2,
  kTF32,
};

enum class Op : std::uint8_t {
  // integers
  kAdd,
  kSub,
  kMulLo,
  kMulHi,
  kMulWide,
  kMadLo,
  kMadHi,
  kMadWide,
  kMul24Lo,
  kMul24Hi,
  kMad24Lo,
  kMad24Hi,
  kSad,
  kDiv,
  kRem,
  kAbs,
  kNeg,
  kMin,
  kMax,
  kPopc,
  kClz,
  kBfind,
  kBfindShift,
  kBrev,
  kBfe,
  kBfi,
  kFns,
  kBmskClamp,
  kBmskWrap,
  kSzextClamp,
  kSzextWrap,
  kDp4a,
  kDp2aLo,
  kDp2aHi,
  // carry chains
  kAddCc,
  kAddc,
  kAddcCc,
  kSubCc,
  kSubc,
  kSubcCc,
  kMadLoCc,
  kMadHiCc,
  kMadcLo,
  kMadcHi,
  kMadcLoCc,
  kMadcHiCc,
  // bits
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kLop3,
  kShl,
  kShr,
  kShfLWrap,
  kShfLClamp,
  kShfRWrap,
  kShfRClamp,
  kPrmt,
  // moves
  kMov,
  kPack,
  kUnpack,
  kSelp,
  kSlctS32,
  kSlctF32,
  // floating point; also kAdd, kSub, kDiv, kAbs, kNeg, kMin, kMax
  kMul,
  kFma,
  kDivApprox,
  kRcp,
  kRcpApprox,
  kSqrt,
  kSqrtApprox,
  kRsqrtApprox,
  kCopysign,
  kSin,
  kCos,
  kEx2,
  kLg2,
  kTanh,
  // comparisons
  kSetp,
  kSet,
  kTestp,
  kCvt,
  kCvtPack,
};

enum class Rounding : std::uint8_t {
  kNone,
  kRn,
  kRz,
  kRm,
  kRp,
  kRna,
  kRni,
  kRzi,
  kRmi,
  kRpi,
};

enum class Compare : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};

// Which outcomes of a comparison make it true.
constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
constexpr unsigned outcomes(Compare compare) {
  switch (compare) {
    case Compare::kEq:
      return kEqual;
    case Compare::kNe:
      return kLess | kGreater;
    case Compare::kLt:
      return kLess;
    case Compare::kLe:
      return kLess | kEqual;
    case Compare::kGt:
      return kGreater;
    case Compare::kGe:
      return kGreater | kEqual;
    case Compare::kEqu:
      return kEqual | kUnordered;
    case Compare::kNeu:
      return kLess | kGreater | kUnordered;
    case Compare::kLtu:
      return kLess | kUnordered;
    case Compare::kLeu:
      return kLess | kEqual | kUnordered;
    case Compare::kGtu:
      return kGreater | kUnordered;
    case Compare::kGeu:
      return kGreater | kEqual | kUnordered;
    case Compare::kNum:
      return kLess | kEqual | kGreater;
    case Compare::kNan:
      return kUnordered;
  }
  return 0;
}

enum class Combine : std::uint8_t { kNone, kAnd, kOr, kXor };

enum class Test : std::uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

// What an arithmetic instruction does, once its modifiers are understood.
struct OpSpec {
  Op op = Op::kMov;
  Type type = Type::kNone;  // of the result
  Type from = Type::kNone;  // of the source, where it differs
  Rounding rounding = Rounding::kNone;
  Compare compare = Compare::kEq;
  Test test = Test::kFinite;
  std::uint8_t prmt = 0;  // 0 general, else PrmtMode
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool satfinite = false;
  bool nan = false;  // min, max: NaN wins
  bool xorsign_abs = false;
  std::uint8_t wide_from = 4;  // cvt, mov: bytes of the source register's lane: 4 or 8
  std::uint8_t wide_to = 4;    // and of the destination's
};

// kSharedCluster is an address in the shared memory of any block of the cluster; instructions that
// name it are lowered to generic ones.
enum class Space : std::uint8_t {
  kGeneric,
  kGlobal,
  kShared,
  kLocal,
  kParam,
  kConst,
  kSharedCluster,
};

// What an atomic or other strong access orders besides itself (PTX ISA 9.0, "Release and
// Acquire Patterns"): the acquiring half is bit 0, the releasing half bit 1.
enum class MemoryOrder : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };
constexpr bool acquires(MemoryOrder order) {
  return (static_cast<unsigned>(order) & 1) != 0;
}
constexpr bool releases(MemoryOrder order) {
  return (static_cast<unsigned>(order) & 2) != 0;
}

// Whose threads a strong access or a fence is for: all of the device, as without a scope; those of
// the block; those of the cluster; all of the system.
enum class MemoryScope : std::uint8_t { kDevice, kBlock, kCluster, kSystem };
constexpr bool has_device(MemoryScope scope) {
  return scope == MemoryScope::kDevice || scope == MemoryScope::kSystem;
}

// Insn::mode of what accesses memory has all three: the space in its lower half, beside whether a
// load is non-coherent; the order above, the scope in the upper two bits.
constexpr std::uint8_t access_mode(Space space, MemoryOrder order, MemoryScope scope) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(space) |
                                   static_cast<unsigned>(order) << 4 |
                                   static_cast<unsigned>(scope) << 6);
}
constexpr Space space_of_mode(std::uint8_t mode) {
  return static_cast<Space>(mode & 7);
}
constexpr std::uint8_t kNonCoherentBit = 8;
constexpr bool is_noncoherent(std::uint8_t mode) {
  return (mode & kNonCoherentBit) != 0;
}
constexpr MemoryOrder order_of_mode(std::uint8_t mode) {
  return static_cast<MemoryOrder>(mode >> 4 & 3);
}
constexpr MemoryScope scope_of_mode(std::uint8_t mode) {
  return static_cast<MemoryScope>(mode >> 6);
}

// Whether an access shares its address register with others of its basic block.
enum class Sharing : std::uint8_t { kAlone, kFirst, kAgain };

// A load or a store.
struct AccessSpec {
  bool store = false;
  Space space = Space::kGeneric;
  std::uint8_t bytes = 4;  // of one element: 1, 2, 4, 8, 16
  bool is_signed = false;
  std::uint8_t elements = 1;      // 1, 2, 4, 8
  std::uint8_t slot = 4;          // bytes of a register's lane: 4, 8, 16
  std::uint8_t address_slot = 8;  // likewise of the address
  bool strong = false;            // volatile, relaxed, acquire, release
  Sharing sharing = Sharing::kAlone;
};

enum class AtomOp : std::uint8_t {
  kExch,
  kCas,
  kAdd,
  kMin,
  kMax,
  kInc,
  kDec,
  kAnd,
  kOr,
  kXor,
};

struct AtomSpec {
  AtomOp op = AtomOp::kAdd;
  Type type = Type::kU32;
  Space space = Space::kGeneric;
  MemoryOrder order = MemoryOrder::kRelaxed;
  MemoryScope scope = MemoryScope::kDevice;
  bool returns = true;  // atom, not red
  bool ftz = false;
  std::uint8_t address_slot = 8;
};

enum class ShflMode : std::uint8_t { kUp, kDown, kBfly, kIdx };

// The instructions of one processor variant. Each chooses a handler, or returns null where there is
// none for such a specification.
struct OpTable {
  const char* name;
  Handler (*integer)(const OpSpec&);
  Handler (*floating)(const OpSpec&);
  Handler (*half)(const OpSpec&);
  Handler (*compare)(const OpSpec&);
  Handler (*convert)(const OpSpec&);
  Handler (*move)(const OpSpec&);
  Handler (*access)(const AccessSpec&);  // quick; null: use any_access
  Handler any_access;
  Handler (*atomic)(const AtomSpec&);
  Handler (*shuffle)(ShflMode);
};

// The best table for this processor: compiled for x86-64-v3 where it can run that, else portable.
const OpTable& op_table();

}  // namespace baton::sim
