#pragma once

// The accesses that threads of one launch certainly make: what the verdict `unsafe` is founded on.

#include <cstdint>
#include <span>
#include <vector>

#include "pdl/verdict/certain_walk.h"

namespace baton::overlap {

// Follows those threads first that are most likely to go ways of their own: the first and the last
// ones, and one of each warp; then the others of the first block. Immutable.
class Witnesses {
 public:
  Witnesses() = default;
  // `steps`: how many operations may be executed, which becomes what is left of it.
  Witnesses(const Footprint& footprint, std::span<const GivenArgument> arguments,
            const LaunchExtents& extents, const VariableNumber& variable, std::uint64_t& steps);

  // Whether some thread certainly makes one of the group's accesses to that memory.
  bool has(const AccessGroup& group, MemoryId memory) const;

  // Whether an access of `own` and one of `other`, a group of another launch, certainly touch one
  // byte. `unordered`: the first comes before everything that may order threads.
  bool meets(const AccessGroup& own, const Witnesses& others, const AccessGroup& other,
             bool unordered) const;

 private:
  std::vector<CertainAccess> of(const AccessGroup& group) const;  // by memory and place

  std::vector<CertainAccess> accesses_;
};

}  // namespace baton::overlap
