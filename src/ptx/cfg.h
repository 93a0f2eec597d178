#pragma once

// The control flow graph of a function: basic blocks over its flat list of instructions, what
// dominates what, and where paths that part at a branch meet again.

#include <cstdint>
#include <vector>

#include "ptx/dominators.h"
#include "ptx/flat.h"

namespace baton::ptx {

// Immutable, so thread-safe. It keeps nothing of the FlatFunction that it is made from.
class ControlFlow {
 public:
  struct BasicBlock {
    std::uint32_t begin = 0;  // instructions [begin, end); empty only in a function without any
    std::uint32_t end = 0;
  };

  // Many indexed branches over long lists would make a graph far larger than its text.
  static constexpr std::size_t kMaxTargets = std::size_t{1} << 22;

  // Throws Error(kInvalidInput) where a branch names something that is not a label, and where all
  // branches together have more than kMaxTargets targets.
  explicit ControlFlow(const FlatFunction& function);

  // Block 0 is where the function begins. The virtual block `exit()`, one past the last, follows
  // every block that ends in ret, exit or trap or runs off the end.
  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks_.size()); }
  std::uint32_t block_of(std::uint32_t instruction) const { return block_of_[instruction]; }

  // Both also for `exit()`. No block is listed twice.
  const std::vector<std::uint32_t>& successors(std::uint32_t block) const {
    return successors_[block];
  }
  const std::vector<std::uint32_t>& predecessors(std::uint32_t block) const {
    return predecessors_[block];
  }
  bool is_reachable(std::uint32_t block) const { return block == 0 || idom_[block] != kNoNode; }

  // kNoNode for block 0 and for what cannot be reached.
  std::uint32_t immediate_dominator(std::uint32_t block) const { return idom_[block]; }
  // Where all paths from a block meet first, at the latest at `exit()`; kNoNode for that alone.
  // From each loop without a way out, one edge to the exit is assumed, from its last block.
  std::uint32_t immediate_post_dominator(std::uint32_t block) const { return ipdom_[block]; }

  // Every block dominates itself. Constant time; false where either cannot be reached.
  bool dominates(std::uint32_t a, std::uint32_t b) const { return dominators_.covers(a, b); }
  bool post_dominates(std::uint32_t a, std::uint32_t b) const {
    return post_dominators_.covers(a, b);
  }

  // The instruction at which threads that part at this branch meet again; the number of
  // instructions for the exit.
  std::uint32_t reconvergence(std::uint32_t branch) const;

 private:
  // When a walk of a dominator tree enters and leaves each node.
  struct Intervals {
    Intervals() = default;
    Intervals(const std::vector<std::uint32_t>& parents, std::uint32_t root);
    bool covers(std::uint32_t a, std::uint32_t b) const {
      return enter[a] != 0 && enter[a] <= enter[b] && leave[b] <= leave[a];
    }
    std::vector<std::uint32_t> enter;  // from 1; 0 for what is not in the tree
    std::vector<std::uint32_t> leave;
  };

  void split(const FlatFunction& function, const Edges& targets);
  void connect(const FlatFunction& function, const Edges& targets);
  Edges reversed_with_exits() const;

  std::vector<BasicBlock> blocks_;
  std::vector<std::uint32_t> block_of_;
  Edges successors_;
  Edges predecessors_;
  std::vector<std::uint32_t> idom_;
  std::vector<std::uint32_t> ipdom_;
  Intervals dominators_;
  Intervals post_dominators_;
};

}  // namespace baton::ptx
