#pragma once

// Whether a thread can get from a kernel's beginning to an operation without passing certain
// others, when what it decided at one branch holds at the next.

#include <cstdint>
#include <vector>

#include "pdl/code.h"

namespace baton::overlap {

// Predicates by what they are computed from: equal numbers are equal or, where one of the two is
// `inverted`, opposite. Not told apart are the rounds of a loop.
struct Predicate {
  std::uint32_t number = 0;
  bool inverted = false;
};

// Not thread-safe.
class PathSearch {
 public:
  explicit PathSearch(const Code& code);

  // Whether there is such a path over operations that `stops` does not forbid to pass; a forbidden
  // one may be passed by those whom its guard holds back. No answer within the bounds on the search
  // counts as none.
  bool reaches(std::uint32_t target, const std::vector<bool>& stops) const;

 private:
  const Code& code_;
  std::vector<Predicate> predicates_;  // by register
  std::vector<std::vector<std::uint32_t>> before_;
  mutable std::uint64_t work_ = 0;  // of all searches together
};

}  // namespace baton::overlap
