#include "pdl/rewrite/trigger_placement.h"

#include <algorithm>

#include "pdl/rewrite/loop_exit.h"
#include "ptx/traversal.h"

namespace baton::overlap {
namespace {

bool is_end(const BodyEffects& effects, std::uint32_t at) {
  const ptx::FlatInstruction& flat = effects.body().instructions()[at];
  return flat.is(ptx::Form::Kind::kReturn) || flat.is(ptx::Form::Kind::kExit);
}

// By block.
struct BlockLoads {
  std::vector<std::uint32_t> done;  // after which instruction the last load is done, or its begin
  std::vector<bool> loads;
  std::vector<bool> leads;  // to a load, in the block or after it; also for the exit
};

BlockLoads find_loads(const BodyEffects& effects, std::optional<std::uint32_t> inserted_wait) {
  const ptx::ControlFlow& flow = effects.flow();
  const auto count = static_cast<std::uint32_t>(flow.blocks().size());
  BlockLoads out{std::vector<std::uint32_t>(count), std::vector<bool>(count), {}};
  for (std::uint32_t b = 0; b < count; ++b) {
    const auto& [begin, end] = flow.blocks()[b];
    out.done[b] = begin;
    for (std::uint32_t at = begin; at < end; ++at) {
      if (effects[at].loads) out.done[b] = at + 1, out.loads[b] = true;
    }
  }
  if (inserted_wait) {
    const std::uint32_t home = flow.block_of(*inserted_wait);
    out.done[home] = std::max(out.done[home], *inserted_wait);
    out.loads[home] = true;
  }
  std::vector<std::uint32_t> loading;
  for (std::uint32_t b = 0; b < count; ++b) {
    if (out.loads[b]) loading.push_back(b);
  }
  out.leads = ptx::reachable(count + 1, loading, [&](std::uint32_t at, const auto& go) {
    for (std::uint32_t before : flow.predecessors(at)) go(before);
  });
  return out;
}

}  // namespace

TriggerPlaces find_exits(const BodyEffects& effects) {
  const ptx::ControlFlow& flow = effects.flow();
  TriggerPlaces out;
  for (std::uint32_t at = 0; at < effects.size(); ++at) {
    if (is_end(effects, at) && flow.is_reachable(flow.block_of(at))) out.before.push_back(at);
  }
  return out;
}

TriggerPlaces find_ends_of_loads(const BodyEffects& effects,
                                 std::optional<std::uint32_t> inserted_wait) {
  const ptx::ControlFlow& flow = effects.flow();
  const auto count = static_cast<std::uint32_t>(flow.blocks().size());
  const BlockLoads blocks = find_loads(effects, inserted_wait);
  const auto goes_on = [&](std::uint32_t b) {
    const auto& next = flow.successors(b);
    return std::any_of(next.begin(), next.end(),
                       [&](std::uint32_t to) { return blocks.leads[to]; });
  };
  TriggerPlaces out;
  // Blocks that end a loop whose last iteration triggers: a thread that leaves them has triggered.
  std::vector<bool> knows(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (!flow.is_reachable(b) || !blocks.loads[b] || !goes_on(b)) continue;
    const auto iteration =
        find_last_iteration(effects, b, blocks.done[b], blocks.loads, blocks.leads);
    if (!iteration) continue;
    knows[flow.block_of(iteration->branch)] = true;
    out.last_iterations.push_back(*iteration);
  }
  for (std::uint32_t b = 0; b < count; ++b) {
    if (!flow.is_reachable(b) || goes_on(b)) continue;
    const auto& before = flow.predecessors(b);
    const bool begins =
        !blocks.loads[b] && std::any_of(before.begin(), before.end(), [&](auto from) {
          return flow.is_reachable(from) && goes_on(from) && !knows[from];
        });
    const std::uint32_t done = blocks.done[b];
    if ((blocks.loads[b] || begins) && done < effects.size() && !is_end(effects, done)) {
      out.before.push_back(done);
    }
  }
  // Blocks are in the order of their instructions, and so are the places.
  out.before.erase(std::unique(out.before.begin(), out.before.end()), out.before.end());
  return out;
}

}  // namespace baton::overlap
