#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "bind/buffers.h"
#include "bind/planned_edge.h"
#include "bind/slots.h"
#include "bind/steps/epilogue.h"
#include "program/steps/collective_facts.h"
#include "world/group_link.h"

namespace baton::bind {

// A collective with its buffers and names resolved.
struct PlannedCollective {
  // Of one execution.
  struct Values {
    std::uint64_t from = 0, to = 0;  // offsets in bytes
    std::uint64_t count = 0;         // elements of one rank
    std::int32_t peer = 0;  // in the group; -1 and `ranks`: beyond the first and the last rank
    std::int32_t rank = 0, ranks = 1;  // in the group
    world::RankGroup group;
    PlannedEpilogue::Values epilogue;
  };

  CollectiveKind kind = CollectiveKind::kAllReduce;
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kF32;
  std::uint32_t from = 0, to = 0;  // the same buffer unless the kind has two
  std::optional<BoundExpression> from_offset, to_offset, count, peer;  // in elements
  std::uint32_t group = 0;                                             // 0: all ranks
  std::string group_name;                                              // empty: all ranks
  std::optional<BoundExpression> rank, ranks;                          // in the group
  std::optional<BoundExpression> world_rank, stride;                   // of the group's ranks
  PlannedEpilogue epilogue;
  std::optional<CollectiveExecutor> by;  // empty: what the run says
  PlannedEdge edge;                      // to the kernel that executes it, if one does

  const CollectiveFacts& facts() const { return facts_of(kind); }
};

PlannedCollective plan_step(const CollectiveStep& step, const ProgramWorld& world,
                            const NameSlots& names, const BufferTable& buffers);
// "all_reduce y", "all_gather x -> y in tensor", "send y to rank + 1".
std::string label_of(const CollectiveStep& step);
bool uses_slot(const PlannedCollective& step, std::size_t slot);
bool is_message(CollectiveKind kind);
// Throws kInvalidInput for offsets, counts and ranks out of range, for rows that do not fit, and
// for an overlap.
PlannedCollective::Values evaluate(const PlannedCollective& step, Slots slots,
                                   const BufferTable& buffers);

// The bytes that a rank reads and writes of the two buffers by the exchange. Both are 0 if there is
// none: with one rank alone, no elements, or a message beyond the ranks.
struct CollectiveBytes {
  std::uint64_t read = 0, written = 0;
};
CollectiveBytes bytes_of(const PlannedCollective& step, const PlannedCollective::Values& values);
// Calls `visit` with each BufferAccess of the exchange and the epilogue.
template <typename Visit>
void for_each_access(const PlannedCollective& step, const PlannedCollective::Values& values,
                     Visit&& visit) {
  CollectiveBytes bytes = bytes_of(step, values);
  const std::uint64_t size = size_of(step.dtype);
  // The epilogue reads and writes them on one rank, too.
  if (!step.epilogue.is_none()) bytes.read = bytes.written = values.count * size;
  if (bytes.read != 0) visit(BufferAccess{step.from, values.from, bytes.read, false});
  if (bytes.written != 0) visit(BufferAccess{step.to, values.to, bytes.written, true});
  if (bytes.written == 0) return;
  for_each_access(step.epilogue, values.epilogue, bytes.written, size, visit);
}
// Whether the step is none on this rank, whatever its elements: its group has no other rank, and
// there is nothing to copy and no epilogue. It parts no launches then.
bool is_absent(const PlannedCollective& step, Slots slots);
// What kernels between peers execute of a run.
struct PeerChoice {
  // Of `default_bytes`.
  static constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

  std::uint32_t ranks = 0;  // of the world; 0: there are no such kernels
  // Steps that do not say what executes them, of at most so many bytes; 0: none of these.
  std::uint64_t default_bytes = kAnyBytes;
};
// Whether one executes the step, which moves bytes.
bool is_for_peers(const PlannedCollective& step, const PlannedCollective::Values& values,
                  const PeerChoice& peers);
// Whether it is a copy inside the device.
bool is_local(const PlannedCollective& step, const PlannedCollective::Values& values);

// "sum of 1024 f32, add": must be equal on all ranks.
std::string content_text(const PlannedCollective& step, const PlannedCollective::Values& values);

}  // namespace baton::bind
