#pragma once

// What the parts of AccessRanges agree on.

#include <algorithm>
#include <cstdint>

#include "pdl/code/code.h"
#include "pdl/value/number_range.h"

namespace baton::overlap {

inline constexpr WideInteger kMaxOffset = WideInteger{1} << 46;  // of an address that is followed
inline constexpr std::uint32_t kNoOperation = UINT32_MAX;

inline bool is_plain_compute(const Operation& operation) {
  return operation.kind == Operation::Kind::kCompute && operation.instruction != nullptr &&
         operation.guard == kNone && operation.defines.size() == 1;
}

inline bool has_negated_operand(const Operation& operation) {
  return std::ranges::any_of(operation.instruction->operands, &ptx::InstructionOperand::negated);
}

}  // namespace baton::overlap
