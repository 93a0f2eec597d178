#pragma once

// Which findings of a replay hold whatever the record lacks of the memory's contents.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "driver/simulator.h"
#include "replay/replay_memory.h"

namespace baton::replay {

// What the replay has in doubt of each launch. A launch is in doubt if its accesses depend on what
// is in memory, and memory that it may reach may have other contents than the process had.
class Doubts {
 public:
  explicit Doubts(ReplayMemory& memory) : memory_(memory) {}

  // A launch, by its number, that is given these memories, and what is then in doubt.
  void launch(std::uint64_t number, const std::set<std::size_t>& given, bool follows_contents);
  // Work that may write these memories is not replayed.
  void lose_writes(const std::set<std::size_t>& given);
  // The same of work of which nothing is known.
  void lose_writes();
  // Work that orders others is not replayed.
  void lose_order() { order_is_lost_ = true; }

  // Why the finding may be none; empty: it counts.
  std::string of(const driver::Finding& finding) const;

 private:
  struct Launch {
    bool contents = false;  // it may access other memory than in the process
    bool lost = false;      // it may read what was not written here
  };
  const Launch& of(std::uint64_t number) const;

  ReplayMemory& memory_;
  std::vector<Launch> launches_;
  bool order_is_lost_ = false;
};

}  // namespace baton::replay
