#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bind/buffers.h"
#include "bind/slots.h"
#include "program/expression/bound_expression.h"

namespace baton::bind {

// One access of a step to a buffer, in bytes.
struct BufferAccess {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0;
  bool writes = false;
};

// The epilogue of an all_reduce (CollectiveStep::add, rms_norm) with its buffers and names
// resolved.
struct PlannedEpilogue {
  struct Place {
    std::uint32_t buffer = 0;
    std::optional<BoundExpression> offset;  // in elements
  };
  struct Norm {
    Place weight, to;
    float epsilon = 0;
  };
  // Of one execution.
  struct Values {
    std::uint64_t add = 0, weight = 0, to = 0;  // offsets in bytes
    std::uint64_t row = 0;                      // elements of a row; 0: no norm
  };

  std::optional<Place> add;
  std::optional<Norm> norm;

  bool is_none() const { return !add && !norm; }
  bool uses_buffer(std::uint32_t buffer) const;
};

PlannedEpilogue plan_epilogue(const CollectiveStep& step, const NameSlots& names,
                              const BufferTable& buffers);
// ", add x, rms_norm to h", or nothing.
std::string label_of_epilogue(const CollectiveStep& step);
bool uses_slot(const PlannedEpilogue& epilogue, std::size_t slot);
// `count`: the elements that are reduced. Throws kInvalidInput for places and rows that do not fit.
PlannedEpilogue::Values evaluate(const PlannedEpilogue& epilogue, Slots slots,
                                 const BufferTable& buffers, std::int64_t count);
// ", add, rms_norm of rows of 128 with epsilon 1e-05", or nothing.
std::string content_text(const PlannedEpilogue& epilogue, const PlannedEpilogue::Values& values);

// Calls `visit` with each access to what the epilogue has beside the reduced elements, which take
// `bytes`.
template <typename Visit>
void for_each_access(const PlannedEpilogue& epilogue, const PlannedEpilogue::Values& values,
                     std::uint64_t bytes, std::uint64_t element_size, Visit&& visit) {
  if (epilogue.add) visit(BufferAccess{epilogue.add->buffer, values.add, bytes, false});
  if (!epilogue.norm) return;
  visit(
      BufferAccess{epilogue.norm->weight.buffer, values.weight, values.row * element_size, false});
  visit(BufferAccess{epilogue.norm->to.buffer, values.to, bytes, true});
}

}  // namespace baton::bind
