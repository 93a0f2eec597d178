#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/engine/run/state.h"

namespace baton::sim {

// The instruction at which a fragment stands: the one that it waits in, or executes next.
const Insn* place_in_code(const Fragment& fragment);

// Where the warps of a grid stand, as time-outs and deadlocks tell it: those at one place that wait
// for the same are one group, over all blocks that are added.
class WaitReport {
 public:
  // The grid must outlive it.
  explicit WaitReport(const GridState& grid) : grid_(grid) {}

  void add(const BlockState& block);
  void add(const ClusterState& cluster);

  // A line a group, by the first block of each; at most kMostGroups and one that counts the rest.
  static constexpr std::size_t kMostGroups = 20;
  std::vector<std::string> lines() const;

 private:
  // The place, what is waited for there, and which barrier or lanes.
  using Key = std::tuple<const Insn*, Wait, std::uint32_t>;
  struct Group {
    const DecodedFunction* function = nullptr;
    const Fragment* fragment = nullptr;  // one of them
    const BlockState* block = nullptr;   // the first
    const BlockState* latest = nullptr;
    std::uint64_t blocks = 0;
    std::uint32_t first_warp = 0, last_warp = 0;  // of the latest block
    std::uint64_t threads = 0;
  };

  std::string line(const Group& group) const;

  const GridState& grid_;
  std::map<Key, Group> groups_;
};

}  // namespace baton::sim
