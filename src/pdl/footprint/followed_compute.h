#pragma once

// What the parts of AccessRanges agree on.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "pdl/code/code.h"
#include "pdl/value/number_range.h"

namespace baton::overlap {

inline constexpr WideInteger kMaxOffset = WideInteger{1} << 46;  // of an address that is followed
inline constexpr std::uint32_t kNoOperation = UINT32_MAX;

inline bool is_plain_compute(const Operation& operation) {
  return operation.kind == Operation::Kind::kCompute && operation.instruction != nullptr &&
         operation.guard == kNone && operation.defines.size() == 1;
}

// Of integers, whole and modulo 2^32 or 2^64: bits that are added as floats, or by halves, are not
// the sum of what they say as integers.
inline bool is_of_integers(const Operation& operation) {
  static constexpr std::string_view kTypes[] = {"u32", "s32", "b32", "u64", "s64", "b64"};
  const auto& modifiers = operation.instruction->modifiers;
  return modifiers.size() == 1 && std::ranges::find(kTypes, modifiers[0]) != std::end(kTypes);
}

inline bool has_negated_operand(const Operation& operation) {
  return std::ranges::any_of(operation.instruction->operands, &ptx::InstructionOperand::negated);
}

}  // namespace baton::overlap
