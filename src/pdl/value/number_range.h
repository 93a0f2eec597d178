#pragma once

// Intervals of the numbers that registers hold, and what instructions make of them.
//
// A register of w bits holds a number of the interval modulo 2^w. So sums, differences and products
// need no check for overflow. An instruction that looks at a sign, an order or the upper bits gets
// the number that the bits mean to it: as_signed and as_unsigned.

#include <cstdint>
#include <optional>
#include <span>

#include "pdl/code/code.h"

namespace baton::overlap {

__extension__ typedef __int128 WideInteger;

// Both ends are included. Their magnitude is below 2^100.
struct NumberRange {
  WideInteger least = 0, most = 0;

  static NumberRange constant(WideInteger value) { return {value, value}; }
  bool is_constant() const { return least == most; }
  // No number: only `restricted` returns it.
  bool is_empty() const { return least > most; }
  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

NumberRange hull(const NumberRange& a, const NumberRange& b);

// All numbers of that many bits.
NumberRange all_unsigned(unsigned width);
NumberRange all_signed(unsigned width);
// What the bits mean as a number with or without a sign. `range` may be unknown.
NumberRange as_unsigned(const std::optional<NumberRange>& range, unsigned width);
NumberRange as_signed(const std::optional<NumberRange>& range, unsigned width);

// Returns the numbers that an operation can give its only destination; nothing: any number.
std::optional<NumberRange> range_of(const Operation& operation,
                                    std::span<const std::optional<NumberRange>> from);

// The numbers x of `range` for which `x OP bound` is as `holds` says, where OP is the setp's.
// `swapped`: `bound OP x`. Empty if there are none. Nothing is known of a range that is not given.
std::optional<NumberRange> restricted(const Operation& setp, bool holds, bool swapped,
                                      const std::optional<NumberRange>& range,
                                      const std::optional<NumberRange>& bound);

}  // namespace baton::overlap
