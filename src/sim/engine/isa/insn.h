#pragma once

#include <cstdint>

namespace baton::sim {

struct Exec;
struct Insn;

// Executes one instruction for the lanes of `x->mask` and returns the next one, or null where the
// warp cannot go on now (x->stop says why).
using Handler = const Insn* (*)(Exec* x, const Insn* i);

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffu;
// Bytes of one register of a warp in its frame: 32 lanes of 4 or of 8 bytes side by side. Registers
// of 16 bits take a slot of 32; predicates are one 32-bit mask.
inline constexpr std::uint32_t kSlot32 = 128;
inline constexpr std::uint32_t kSlot64 = 256;

// One executable instruction: one cache line. Operands are byte offsets into the warp's frame, for
// registers, immediates and special registers alike, so handlers know one kind of operand.
struct alignas(64) Insn {
  Handler fn = nullptr;
  Handler inner = nullptr;  // what `fn` runs for the lanes of the guard
  std::uint32_t r[6] = {};
  std::uint32_t guard = 0;   // the guard predicate
  std::uint8_t negated = 0;  // bit k: predicate operand r[k] is negated; bit 7: the guard
  std::uint8_t mode = 0;     // meaning is the handler's own
  std::uint16_t cache = 0;   // memory instructions: number of the cached region
  std::int64_t imm = 0;      // address offset, lookup table, …
  union {
    const Insn* target;         // branches
    const std::uint32_t* list;  // further operands
    const void* data;           // call sites, barrier facts, …
    std::uint64_t bits;
  } u = {nullptr};
};
static_assert(sizeof(Insn) == 64);

inline constexpr std::uint8_t kGuardNegated = 0x80;

}  // namespace baton::sim
