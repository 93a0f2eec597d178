#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

#include "instructions/scalar.h"

// What the operands of an instruction are tried with: the edges of their type in every combination
// as far as that is affordable, and random values by a fixed seed.
namespace baton::instructions {

using Random = std::mt19937_64;

struct Values {
  std::vector<u64> edges;              // the most telling ones first
  std::function<u64(Random&)> random;  // any value
};

// All that is tried of one type by default.
Values values_of(Kind kind);
// Only these.
Values only(std::vector<u64> values);
// Only the integers from `first` to `last`.
Values range(s64 first, s64 last);
// Floats spread evenly over an interval, besides its ends.
Values interval(const FloatFormat& format, double low, double high);

// Rows of one value per operand. `uniform` operands have one value for all rows of a group.
struct RowPlan {
  std::vector<Values> operands;
  std::vector<bool> uniform;
  unsigned group = 1;  // rows that belong together: a thread, a warp or a block
};

// Rows one after the other, a multiple of `group` of them. The same plan gives the same rows.
std::vector<u64> make_rows(const RowPlan& plan);

}  // namespace baton::instructions
