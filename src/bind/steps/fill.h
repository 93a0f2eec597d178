#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "bind/buffers.h"
#include "bind/slots.h"

namespace baton::bind {

// A fill with its buffer and names resolved.
struct PlannedFill {
  struct Values {
    std::uint64_t bits = 0;  // that each element stores
  };

  std::uint32_t buffer = 0;
  std::variant<std::uint64_t, BoundExpression> value;  // stored bits, or an integer
};

PlannedFill plan_step(const FillStep& step, const NameSlots& names, const BufferTable& buffers);
// "fill z".
std::string label_of(const FillStep& step);
bool uses_slot(const PlannedFill& step, std::size_t slot);
// Throws kInvalidInput for a value that the buffer's dtype does not hold.
PlannedFill::Values evaluate(const PlannedFill& step, Slots slots, const BufferTable& buffers);
// The buffer that the step writes.
inline std::uint32_t target_of(const PlannedFill& step) {
  return step.buffer;
}

}  // namespace baton::bind
