#pragma once

// Which findings of a replay do not depend on contents that the record lacks.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "driver/simulator.h"
#include "replay/replay_memory.h"

namespace baton::replay {

// The launches that are in doubt. A launch is in doubt if its accesses depend on the contents of
// memory, and memory that it may reach may have other contents than in the process.
class Doubts {
 public:
  explicit Doubts(ReplayMemory& memory) : memory_(memory) {}

  // Adds a launch, by its number, with the memories of its arguments, and marks the memories that
  // it may write if it is in doubt.
  void launch(std::uint64_t number, const std::set<std::size_t>& given, bool follows_contents);
  // Work that may write these memories is not replayed.
  void lose_writes(const std::set<std::size_t>& given);
  // Work that may write any memory is not replayed.
  void lose_writes();
  // Work that orders others is not replayed.
  void lose_order() { order_is_lost_ = true; }

  // Why the finding is doubtful; empty: it counts.
  std::string of(const driver::Finding& finding) const;

 private:
  struct Launch {
    bool contents = false;  // it may access other memory than in the process
    bool lost = false;      // it may read memory whose writes were not replayed
  };
  const Launch& of(std::uint64_t number) const;

  ReplayMemory& memory_;
  std::vector<Launch> launches_;
  bool order_is_lost_ = false;
};

}  // namespace baton::replay
