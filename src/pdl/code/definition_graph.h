#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pdl/code/code.h"

namespace baton::overlap {

// The definitions of a kernel's registers, and the ways between its operations. Immutable.
class DefinitionGraph {
 public:
  explicit DefinitionGraph(const Code& code);

  std::span<const std::uint32_t> definitions(std::uint32_t id) const { return definitions_[id]; }
  bool is_single(std::uint32_t id) const { return definitions_[id].size() == 1; }
  // Whether every way from the kernel's beginning to `b` passes `a`.
  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return entered_[a] != 0 && entered_[b] != 0 && entered_[a] <= entered_[b] &&
           left_[b] <= left_[a];
  }

 private:
  std::vector<std::vector<std::uint32_t>> definitions_;  // operations, by register
  std::vector<std::uint32_t> entered_, left_;  // by operation: a walk over the dominator tree
};

}  // namespace baton::overlap
