#pragma once

// Which operations of a kernel come after its wait, for the thread that executes them: because it
// waited itself, or because a barrier of its block or cluster orders it after a thread that did.

#include <cstdint>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/value/thread.h"

namespace baton::overlap {

enum class Order : std::uint8_t {
  kAfter,    // on every path after the wait
  kUnclear,  // after a synchronisation that may or may not order it
  kBefore,   // there is a path on which nothing orders it after a wait
};

struct WaitOrdering {
  std::vector<Order> of;        // by operation
  std::vector<bool> reachable;  // by operation
  // By operation: waits, and operations that may order a thread after the wait of another.
  std::vector<bool> ordering_ops;
  // By operation: whether a barrier that all threads pass orders it after a wait.
  std::vector<bool> behind_barrier;
  bool waits = false;  // some path has a wait
  bool every_thread_waits = false;
  bool a_thread_waits = false;  // of every block, one for certain; so does every thread, if so
  bool triggers = false;
  bool triggers_before_wait = false;   // on some path
  bool always_triggers_early = false;  // on every path, before a wait and before its end
};

// `block`: its extents, zeros where they are not known; every block has a thread 0 all the same.
WaitOrdering find_order(const Code& code, const std::array<std::uint32_t, 3>& block);

}  // namespace baton::overlap
