#pragma once

#include <functional>
#include <vector>

namespace baton::sim {

// While devices access each other's memory, one of them executes at a time. So a thread of one
// device sees a flag of another one together with what the judge knows of it; and which device goes
// on is a schedule's matter, not that of the host's threads. Without such devices nothing is held.

// Those that have something to execute, by ordinal. Who joins takes its turns soon, or leaves: the
// others wait for it.
void join_turns(int ordinal);
void leave_turns(int ordinal);

class PeerTurn {
 public:
  // Chooses who is next of those that joined, by their places in that order. `own` is the device's
  // own place.
  using Choose = std::function<std::size_t(std::size_t count, std::size_t own)>;
  PeerTurn(int ordinal, Choose choose);
  ~PeerTurn();
  PeerTurn(const PeerTurn&) = delete;
  PeerTurn& operator=(const PeerTurn&) = delete;

 private:
  const int ordinal_;
  const Choose choose_;
  const bool is_held_;
};

}  // namespace baton::sim
