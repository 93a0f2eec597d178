#pragma once

// What operations do to mbarriers and named barriers.

#include <cstdint>
#include <optional>

#include "pdl/code/code.h"
#include "pdl/value/follower.h"

namespace baton::overlap {

struct MbarrierUse {
  enum class Kind : std::uint8_t {
    kTest,     // of a phase, by its parity; it acquires
    kArrival,  // it releases
    kWeakArrival,
  };
  Kind kind = Kind::kTest;
  bool of_cluster = false;  // its scope
  // The address is one of the thread's own block.
  bool is_own = false;
};

// Nothing: it neither tests a phase by its parity nor arrives.
std::optional<MbarrierUse> mbarrier_use(const Operation& operation);

// Of an operation that has one.
Value mbarrier_address(const Operation& operation, const Follower& follower);
Value mbarrier_parity(const Operation& operation, const Follower& follower);

struct BarrierUse {
  bool waits = false;       // else it only arrives
  bool is_aligned = false;  // all lanes of a warp execute it together
  ValueSource id;
  std::optional<ValueSource> count;  // of threads; nothing: all of the block
};

// Nothing: it is not a barrier of a block.
std::optional<BarrierUse> barrier_use(const Operation& operation);

}  // namespace baton::overlap
