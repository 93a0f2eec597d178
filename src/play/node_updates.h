#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "bind/tape_changes.h"
#include "play/player.h"
#include "play/tape_graph.h"

namespace baton::play {

// The launches of a tape that are nodes of a graph, and those of them that have other values than
// their nodes. Refers to the tape.
class NodeUpdates {
 public:
  // Forgets all launches.
  void clear();
  // The launch is the next node. `step`: its number among the steps of a run. `slots`: the values
  // of symbols and indexes, which a simulated GPU's notes need; else empty.
  void add(const bind::TapeLaunch& launch, bool programmatic, std::uint64_t step,
           std::span<const std::int64_t> slots);

  // The launches in `changes` have other values.
  void mark(const bind::TapeChanges& changes);
  // Gives the nodes of marked launches their values. Returns whether there were any. Throws what
  // the driver refuses with.
  bool apply(const TapeInstance& graph, const PlayTarget& target);

 private:
  struct Node {
    const bind::TapeLaunch* launch;
    bool programmatic;
    bool is_marked;
    std::uint64_t step;
    std::vector<std::int64_t> slots;
  };
  using Numbers = std::vector<std::uint32_t>;

  void mark(const Numbers& numbers);

  std::vector<Node> nodes_;  // in the order of TapeGraph::launches
  Numbers marked_;
  // Made by the first `mark`.
  std::unordered_map<const bind::TapeLaunch*, Numbers> by_launch_;
  std::unordered_map<const bind::LaunchSite*, Numbers> by_site_;
};

}  // namespace baton::play
