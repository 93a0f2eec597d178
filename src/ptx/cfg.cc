#include "ptx/cfg.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "ptx/traversal.h"

namespace baton::ptx {
namespace {

bool is_branch(const FlatInstruction& instruction) {
  return instruction.is(Form::Kind::kBranch);
}

bool is_end(const FlatInstruction& instruction) {
  return instruction.is(Form::Kind::kReturn) || instruction.is(Form::Kind::kExit) ||
         instruction.is(Form::Kind::kTrap);
}

}  // namespace

ControlFlow::ControlFlow(const FlatFunction& function) {
  const auto& instructions = function.instructions();
  Edges targets(instructions.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (!is_branch(instructions[i])) continue;
    targets[i] = function.branch_targets(instructions[i]);
    total += targets[i].size();
    if (total > kMaxTargets) {
      throw function.function().error(
          instructions[i].instruction->position,
          fmt::format("the branches of \"{}\" have more than {} targets up to here",
                      function.function().name, kMaxTargets));
    }
  }
  split(function, targets);
  connect(function, targets);
  predecessors_ = reversed(successors_);
  idom_ = immediate_dominators(successors_, 0);
  ipdom_ = immediate_dominators(reversed_with_exits(), exit());
  dominators_ = Intervals(idom_, 0);
  post_dominators_ = Intervals(ipdom_, exit());
}

// A block begins at the first instruction, at every target and after whatever does not simply go
// on.
void ControlFlow::split(const FlatFunction& function, const Edges& targets) {
  const auto& instructions = function.instructions();
  const auto count = static_cast<std::uint32_t>(instructions.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t target : targets[i]) begins[target] = true;
    if (is_branch(instructions[i]) || is_end(instructions[i])) begins[i + 1] = true;
  }
  block_of_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (begins[i]) blocks_.push_back({i, i});
    blocks_.back().end = i + 1;
    block_of_.push_back(static_cast<std::uint32_t>(blocks_.size()) - 1);
  }
  if (blocks_.empty()) blocks_.push_back({0, 0});
}

void ControlFlow::connect(const FlatFunction& function, const Edges& targets) {
  successors_.resize(blocks_.size() + 1);
  const auto at = [&](std::uint32_t instruction) {
    return instruction == block_of_.size() ? exit() : block_of_[instruction];
  };
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    auto& edges = successors_[b];
    bool goes_on = true;
    if (blocks_[b].end != blocks_[b].begin) {
      const std::uint32_t last = blocks_[b].end - 1;
      const FlatInstruction& flat = function.instructions()[last];
      for (std::uint32_t target : targets[last]) edges.push_back(at(target));
      if (is_end(flat)) edges.push_back(exit());
      goes_on = !(is_branch(flat) || is_end(flat)) || !flat.instruction->guard.empty();
    }
    if (goes_on) edges.push_back(at(blocks_[b].end));
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }
}

// The edges backwards, with one more from the exit into every loop that has no way out.
Edges ControlFlow::reversed_with_exits() const {
  Edges result = predecessors_;
  std::vector<bool> seen(result.size(), false);
  const auto mark = [&](std::uint32_t root) {
    mark_reachable(seen, std::span(&root, 1), [&](std::uint32_t block, const auto& go) {
      for (std::uint32_t before : predecessors_[block]) go(before);
    });
  };
  mark(exit());
  for (std::uint32_t b = exit(); b-- > 0;) {
    if (seen[b]) continue;
    result[exit()].push_back(b);
    mark(b);
  }
  return result;
}

std::uint32_t ControlFlow::reconvergence(std::uint32_t branch) const {
  const std::uint32_t meeting = ipdom_[block_of_[branch]];
  return meeting == exit() ? static_cast<std::uint32_t>(block_of_.size()) : blocks_[meeting].begin;
}

ControlFlow::Intervals::Intervals(const std::vector<std::uint32_t>& parents, std::uint32_t root)
    : enter(parents.size(), 0), leave(parents.size(), 0) {
  Edges children(parents.size());
  for (std::uint32_t node = 0; node < parents.size(); ++node) {
    if (parents[node] != kNoNode) children[parents[node]].push_back(node);
  }
  std::uint32_t time = 0;
  const auto children_of = [&](std::uint32_t node) -> const auto& {
    return children[node];
  };
  const auto note_entry = [&](std::uint32_t node, std::uint32_t) {
    enter[node] = ++time;
    return true;
  };
  walk_depth_first(root, children_of, note_entry, [&](std::uint32_t n) { leave[n] = ++time; });
}

}  // namespace baton::ptx
