#include "pdl/rewrite/loop_exit.h"

#include <algorithm>
#include <utility>

namespace baton::overlap {

std::optional<LastIteration> find_last_iteration(const BodyEffects& effects, std::uint32_t block,
                                                 std::uint32_t done, const std::vector<bool>& loads,
                                                 const std::vector<bool>& leads) {
  const ptx::ControlFlow& flow = effects.flow();
  const std::uint32_t home = block;
  constexpr std::size_t kLongest = 4096;  // instructions of an iteration that are looked at
  std::vector<std::uint32_t> path;
  std::uint32_t at = done;
  for (;;) {
    const std::uint32_t last = flow.blocks()[block].end - 1;
    for (; at < last; ++at) path.push_back(at);
    const auto& next = flow.successors(block);
    if (next.size() == 2) break;
    if (next.size() != 1 || next[0] == flow.exit() || loads[next[0]]) return std::nullopt;
    if (at == last) path.push_back(at);
    if (path.size() > kLongest || flow.predecessors(next[0]).size() != 1) return std::nullopt;
    block = next[0];
    at = flow.blocks()[block].begin;
  }
  const std::uint32_t branch = flow.blocks()[block].end - 1;
  const Operation& leaves = effects.code().operations[branch];
  // Without a write there is little work after the load, so a trigger after the loop is as good.
  const bool writes = std::any_of(path.begin(), path.end(), [&](std::uint32_t each) {
    return effects.access(each) != nullptr && effects.access(each)->writes;
  });
  if (!writes || leaves.kind != Operation::Kind::kBranch || leaves.instruction->guard.empty()) {
    return std::nullopt;
  }
  // The first successor of a guarded branch is the next instruction.
  const auto goes_to_loads = [&](std::uint32_t operation) {
    return operation < effects.size() && leads[flow.block_of(operation)];
  };
  if (leaves.next.size() != 2) return std::nullopt;
  const bool where_taken = goes_to_loads(leaves.next[1]);
  if (goes_to_loads(leaves.next[0]) == where_taken) return std::nullopt;
  // The edge must lead to where every iteration begins, directly or by a jump.
  std::uint32_t again = flow.block_of(leaves.next[where_taken ? 1 : 0]);
  const auto& jump = flow.successors(again);
  if (!flow.dominates(again, home) && jump.size() == 1) again = jump[0];
  if (!flow.dominates(again, home)) return std::nullopt;
  auto repeated = deciding(effects.body(), path, branch, done);
  if (!repeated) return std::nullopt;
  return LastIteration{done, branch, !where_taken, std::move(*repeated)};
}

}  // namespace baton::overlap
