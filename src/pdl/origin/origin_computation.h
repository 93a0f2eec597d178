#pragma once

// What instructions compute from the origins of their operands: the rules of the rows of
// value_effect.h.

#include "pdl/origin/origin_values.h"
#include "pdl/origin/value_effect.h"

namespace baton::overlap {

// Whether the bits of a constant are among those of an alignment.
inline bool is_below_alignment(const ValueSource& source) {
  return source.kind == ValueSource::Kind::kConstant && source.bits < kAllocationAlignment;
}

// Whether the result comes from the operands alone: that of an mbarrier comes from memory, and that
// of wgmma from shared memory, too.
bool is_computation(const ptx::Form* form);

// mov.b64 {low, high}, a
bool unpacks_halves(const Operation& operation);

// The origins of the operation's results, without those of a carry and of memory. Empty while an
// operand is not defined.
OriginSet computed_origins(OriginValues& values, const Operation& operation, ValueEffect effect);

}  // namespace baton::overlap
