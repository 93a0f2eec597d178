#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/async/async_state.h"
#include "sim/engine/isa/spec.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// Asynchronous copies in bulk, and stores (PTX ISA 9.0, "Asynchronous operations"). They happen as
// late as they may: when a thread waits for them, or looks at the mbarrier that awaits them.

// In Insn::imm.
struct BulkForm {
  bool to_shared = false;    // an mbarrier awaits it; else a bulk group
  bool from_shared = false;  // the executing block's, else global memory
  bool multicast = false;
  bool masked = false;  // .cp_mask
  bool reduces = false;
  AtomOp op = AtomOp::kAdd;
  Type type = Type::kNone;
  std::uint8_t elements = 0;  // of st.async and red.async
};
static_assert(sizeof(BulkForm) == 8);

// r[0] and r[1] the addresses to write and to read, generic for shared memory; r[2] the bytes; r[3]
// the mbarrier's generic address; r[4] the mask of blocks or of bytes.
const Insn* op_bulk_copy(Exec* x, const Insn* i);
const Insn* op_bulk_commit(Exec* x, const Insn* i);
// imm as for cp.async; mode 1: only until the sources were read.
const Insn* op_bulk_wait(Exec* x, const Insn* i);
// st.async and red.async: r[0] the generic address to write, r[1] the mbarrier's, then the values.
const Insn* op_async_store(Exec* x, const Insn* i);

// What copies in bulk have in common. A copy of the lane, still without its places.
BulkCopy begin_copy(Exec* x, const Insn* i, int lane);
// To shared memory: an mbarrier at the generic address awaits it; `ranks` are the blocks of the
// cluster that it goes to, at the same place in each. False after a fault.
bool send_to_shared(Exec* x, const Insn* i, int lane, const BulkCopy& copy, std::uint64_t mbarrier,
                    std::optional<std::uint32_t> ranks);
// To global memory, where everything was checked: in the lane's present group.
void send_to_global(Exec* x, int lane, BulkCopy copy);

// Performs what the mbarrier awaits once all have arrived, until its phase ends. Copies that the
// phase did not expect are left under way. `i` and `lane` look at it. False after a fault.
bool perform_awaited(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset);

// The present block's threads have all exited: bulk copies that no thread waited for happen now,
// and what is to be read of the block's memory is read.
void finish_async(Exec* x);

}  // namespace baton::sim
