#pragma once

// Whether a thread can get from a kernel's beginning to an operation without passing certain
// others, if each decision at a branch holds at later branches with the same condition.

#include <cstdint>
#include <vector>

#include "pdl/code.h"

namespace baton::overlap {

// Predicates by what they are computed from: equal numbers mean equal values or, if one of the two
// is `inverted`, opposite ones. Iterations of a loop are not distinguished.
struct Predicate {
  std::uint32_t number = 0;
  bool inverted = false;
};

// Not thread-safe.
class PathSearch {
 public:
  explicit PathSearch(const Code& code);

  // Whether there is such a path that passes none of `stops`. A thread passes a stop whose guard
  // holds it back. The result is false if the search exceeds its bounds.
  bool reaches(std::uint32_t target, const std::vector<bool>& stops) const;

 private:
  const Code& code_;
  std::vector<Predicate> predicates_;  // by register
  std::vector<std::vector<std::uint32_t>> before_;
  mutable std::uint64_t work_ = 0;  // of all searches together
};

}  // namespace baton::overlap
