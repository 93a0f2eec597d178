#pragma once

// Flags in shared memory as signals: a load polls a flag to which early threads have written only
// its initial value. docs/verdicts-order.md ("Flags") has the rule.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/order/flag_use.h"
#include "pdl/value/follower.h"
#include "pdl/value/thread.h"

namespace baton::overlap {

// Whether the code has a load that may poll such a flag after a wait of other threads.
bool has_flags(const Code& code);

class Flags {
 public:
  // `everything`: the accesses of all threads, also after waits. Keeps references.
  Flags(const Code& code, const KnownThread& thread, const std::deque<Follower>& everything);

  // The value of the operation for an early thread; nothing: it does not poll a flag.
  std::optional<std::uint64_t> value_at(std::uint32_t at) const;

  // Drops the flags that early threads may change. `early`: those threads.
  // Returns whether there was one.
  bool drop(const std::deque<Follower>& early,
            const std::function<bool(const Follower&, std::uint32_t)>& may_execute);
  void forget_all() { polls_.clear(); }

 private:
  struct Poll {
    std::uint32_t at = 0;
    Value place;
    unsigned width = 0;         // in bits
    std::uint64_t initial = 0;  // of that width
    std::uint32_t begin = 0;    // the store of the initial value
  };
  struct Write {
    std::uint32_t at = 0;
    SharedWrite what;
    Value place, value;  // over all that threads do
  };

  void collect();
  std::optional<Poll> poll_at(std::uint32_t at, std::span<const std::uint32_t> passed) const;
  bool begins(const Write& store, std::uint32_t passed) const;
  bool gives_initial_value(const Write& write, const Poll& poll) const;
  bool may_touch(const SharedWrite& what, const Value& place, const Poll& poll) const;
  bool orders_all_writes(const Poll& poll) const;
  bool is_reached(std::uint32_t at) const;
  Value joined_over_all(std::uint32_t at, const std::function<Value(const Follower&)>& get) const;

  const Code& code_;
  const KnownThread& thread_;
  const std::deque<Follower>& everything_;
  std::vector<Write> writes_;
  std::vector<bool> unfenced_;  // by operation
  std::vector<Poll> polls_;
};

}  // namespace baton::overlap
