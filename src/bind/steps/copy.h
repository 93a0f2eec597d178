#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bind/buffers.h"
#include "bind/slots.h"

namespace baton::bind {

// A copy with its buffers and names resolved.
struct PlannedCopy {
  // Offsets and size of one execution, in bytes. Zero bytes: nothing is copied.
  struct Values {
    std::uint64_t from = 0, to = 0, bytes = 0;
  };

  std::uint32_t from = 0, to = 0;
  std::optional<BoundExpression> from_offset, to_offset, count;  // in elements
};

PlannedCopy plan_step(const CopyStep& step, const NameSlots& names, const BufferTable& buffers);
// "copy y -> z + N".
std::string label_of(const CopyStep& step);
bool uses_slot(const PlannedCopy& step, std::size_t slot);
// Throws kInvalidInput for offsets and counts outside the buffers, and for an overlap.
PlannedCopy::Values evaluate(const PlannedCopy& step, Slots slots, const BufferTable& buffers);
// The buffer that the step writes.
inline std::uint32_t target_of(const PlannedCopy& step) {
  return step.to;
}

}  // namespace baton::bind
