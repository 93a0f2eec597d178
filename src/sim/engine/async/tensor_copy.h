#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/async/async_state.h"
#include "sim/engine/async/tensor_map.h"
#include "sim/engine/isa/spec.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// Copies of boxes of tensors, and of pixels of images that are unfolded (PTX ISA 9.0,
// "cp.async.bulk.tensor" and its forms, in the modes tile and im2col). They happen when other
// copies in bulk do.

// In Insn::imm.
struct TensorForm {
  std::uint8_t rank = 0;
  bool to_shared = false;  // an mbarrier awaits it; else a bulk group
  bool prefetches = false;
  bool multicast = false;
  bool reduces = false;
  AtomOp op = AtomOp::kAdd;
  bool unfolds = false;      // mode im2col
  bool has_offsets = false;  // of its pixels
};
static_assert(sizeof(TensorForm) == 8);

// r[0] the generic address of the tile in shared memory, r[1] that of the tensor map, r[2] the
// mbarrier's, r[3] the mask of blocks; the list holds the coordinates, the innermost first, and
// then the offsets of pixels.
const Insn* op_tensor_copy(Exec* x, const Insn* i);

// The bytes of a tensor map at a generic address, or nothing after a fault.
std::optional<TensorMapBytes> read_map_bytes(Exec* x, const Insn* i, int lane,
                                             std::uint64_t address);

// Of a copy that has a tile. Does nothing where its memory is there no longer.
void perform_tile(Exec* x, BulkCopy& copy);

}  // namespace baton::sim
