#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/isa/spec.h"
#include "sim/engine/judge/watch.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// Runs of memory for instructions that move many bytes, now or later.
struct MemorySpan {
  Space space = Space::kGeneric;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t aligned = 1;  // what the address must be a multiple of
};

// Whether the span lies in global memory or in the shared memory of a live block of the cluster, as
// a whole; where not, the fault is recorded. A span that is read and that nothing wrote gets a
// warning. Counts the traffic of global memory.
bool check_span(Exec* x, const Insn* i, int lane, const MemorySpan& span, bool writes);

// Shows a span of global memory that was checked, and that an asynchronous copy reads or writes, to
// who looks for races. An update is one that may be beside others; `copy` as in watch.h.
void watch_copy(Exec* x, const Insn* i, int lane, const MemorySpan& span, AccessKind touch,
                const CopyParty* copy);

// The host memory behind a span that was checked before, or null where it is there no longer:
// freed, or of a block that exited. Marks what is to be written.
std::byte* span_place(Exec* x, const MemorySpan& span, bool writes);

// Marks words of a block's shared memory as written.
void mark_shared(Exec* x, BlockState& block, std::uint64_t offset, std::uint64_t bytes);

}  // namespace baton::sim
