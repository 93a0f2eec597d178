#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/expression/bound_expression.h"

namespace baton::bind {

// The comparisons that the values of a program's symbols must fulfil. Immutable. Refers to the
// program, which must outlive it.
class Requirements {
 public:
  explicit Requirements(const Program& program);

  // `symbols`: a value for each, in the program's order. Throws kInvalidInput, with both values and
  // at the place of the comparison, for the first one that does not hold.
  void check(std::span<const std::int64_t> symbols) const;

 private:
  struct Bound {
    const Requirement& requirement;
    BoundExpression left, right;
  };
  std::vector<Bound> all_;
};

}  // namespace baton::bind
