#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/isa/spec.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// The careful way to memory, one lane at a time: every space, every check, every message. The
// instruction handlers come here where their quick paths do not apply.

// Copies `bytes` between `buffer` and the memory that `address` means in `space`. False where the
// access is wrong: the fault is recorded and the handler returns x->stop's kFault by null. Strong
// accesses of up to 16 bytes are single-copy atomic; `i` is then one of any_access, which says how
// large an element is. Counts the traffic of global memory.
enum class LoadKind : std::uint8_t { kWeak, kStrong, kNonCoherent };
bool load_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address, void* buffer,
               std::uint32_t bytes, LoadKind kind);
bool store_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address,
                const void* buffer, std::uint32_t bytes, bool strong);

// Where an atomic operation works, or null after recording the fault. Marks the bytes as written.
// `aligned` is what the address must be a multiple of: 0 stands for `bytes`.
std::byte* atomic_lane(Exec* x, const Insn* i, int lane, Space space, std::uint64_t address,
                       std::uint32_t bytes, std::uint32_t aligned = 0);

// atom.exch.b128 and atom.cas.b128: r[0] the old value, r[1] the address, r[2] and r[3] the
// operands, imm the offset, mode the space; bit 0 of `negated` says that the address has 32 bits.
const Insn* op_exchange_wide(Exec* x, const Insn* i);
const Insn* op_swap_wide(Exec* x, const Insn* i);

// st.bulk: zeros at the generic address in r[0], as many bytes as r[1] says. Not one access: other
// threads may see a part of it (PTX ISA, "st.bulk").
const Insn* op_store_zeros(Exec* x, const Insn* i);

// Makes x->regions[i->cache] the region that holds the address. Returns false where there is none,
// and where its start suits no quick path.
bool refill_region(Exec* x, const Insn* i, std::uint64_t address);

// For instructions that all lanes of `members` execute together: true where they are all here, so
// that the handler may go on. Otherwise the fragment waits, and *next is what the warp does
// meanwhile.
bool converge(Exec* x, const Insn* i, std::uint32_t members, const Insn** next);

// What is known of order passes from each of the lanes to the others with a value that they
// exchange in registers.
void exchange_order(Exec* x, std::uint32_t lanes);

// Records that the lane executes such an instruction with a member mask of 0. Returns null, as the
// handler must then.
const Insn* no_members(Exec* x, const Insn* i, int lane);

}  // namespace baton::sim
