#include "pdl/order/order.h"

#include <algorithm>
#include <span>

#include "pdl/order/meetings.h"
#include "pdl/order/signals.h"
#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kMaxThreads = 32;  // that are followed in search of one that waits
constexpr std::size_t kFewOperations = std::size_t{1} << 16;  // of larger code one thread is

bool is_election(const Operation& operation) {
  return operation.instruction != nullptr && operation.instruction->opcode == "elect";
}

class OrderFinder {
 public:
  OrderFinder(const Code& code, const std::array<std::uint32_t, 3>& block)
      : code_(code),
        block_(block),
        elects_(std::ranges::any_of(code.operations, is_election)),
        passed_(count_meetings(code, Meeting::kBlock)) {}

  WaitOrdering find() {
    WaitOrdering result;
    const std::vector<bool> unwaited = find_unwaited();
    result.of.assign(code_.operations.size(), Order::kAfter);
    result.reachable.resize(code_.operations.size());
    result.every_thread_waits = true;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      const Operation& operation = code_.operations[at];
      result.reachable[at] = passed_[at].is_reached();
      if (!result.reachable[at]) continue;
      result.waits |= operation.kind == Kind::kWait;
      if (operation.kind == Kind::kEnd && unwaited[at]) result.every_thread_waits = false;
    }
    result.a_thread_waits = result.every_thread_waits;
    const auto [ordering_barrier, ordering_cluster] =
        result.waits ? find_ordering_barriers(result) : OrderingBarriers{};
    std::vector<Passed> cluster_passed;
    if (ordering_cluster != kNone) cluster_passed = count_meetings(code_, Meeting::kCluster);
    result.behind_barrier.resize(code_.operations.size());
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      result.behind_barrier[at] =
          (ordering_barrier != kNone && passed_[at].least >= ordering_barrier) ||
          (ordering_cluster != kNone && cluster_passed[at].least >= ordering_cluster);
    }
    const std::vector<bool> early = find_early_operations(result);
    const std::vector<bool> ordering_ops = find_ordering_ops();
    const std::vector<bool> unordered = flood(ordering_ops);
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!result.reachable[at] || !unwaited[at]) continue;
      if (result.behind_barrier[at] || !early[at]) continue;
      result.of[at] = unordered[at] ? Order::kBefore : Order::kUnclear;
    }
    result.ordering_ops = ordering_ops;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!result.reachable[at] || code_.operations[at].kind != Kind::kTrigger) continue;
      result.triggers = true;
      result.triggers_before_wait |= result.of[at] != Order::kAfter;
    }
    result.always_triggers_early = result.triggers && triggers_on_every_path();
    return result;
  }

 private:
  // By operation: whether a path leads there that passes none of `stops`, but those whose guard may
  // hold a thread back.
  std::vector<bool> flood(const std::vector<bool>& stops) const {
    const std::uint32_t begin = 0;
    return ptx::reachable(
        code_.operations.size(), std::span(&begin, 1), [&](std::uint32_t at, const auto& go) {
          const Operation& operation = code_.operations[at];
          if (is_certain(operation) && (stops[at] || operation.kind == Kind::kTrap)) return;
          for (const std::uint32_t to : operation.next) go(to);
        });
  }

  bool triggers_on_every_path() const {
    std::vector<bool> triggers(code_.operations.size());
    for (std::size_t at = 0; at < triggers.size(); ++at) {
      triggers[at] = code_.operations[at].kind == Kind::kTrigger;
    }
    const std::vector<bool> without = flood(triggers);
    for (std::size_t at = 0; at < without.size(); ++at) {
      if (without[at] && ends_the_early_part(code_.operations[at])) return false;
    }
    return true;
  }

  std::vector<bool> find_unwaited() const {
    std::vector<bool> waits(code_.operations.size());
    for (std::size_t at = 0; at < waits.size(); ++at) {
      waits[at] = code_.operations[at].kind == Kind::kWait;
    }
    return flood(waits);
  }

  // By operation: whether a thread may execute it that has passed no wait, as far as signals tell.
  std::vector<bool> find_early_operations(const WaitOrdering& found) const {
    if (!found.waits || !has_signals(code_)) {
      return std::vector<bool>(code_.operations.size(), true);
    }
    KnownThread thread;
    thread.tid.reset();
    if (block_[0] != 0) thread.block = block_;
    return find_early(code_, thread, found.behind_barrier);
  }

  // By operation: whether a thread can have waited, or seen a flag, when it comes there.
  std::vector<bool> find_behind_ordering() const {
    std::vector<std::uint32_t> roots;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      const Operation& operation = code_.operations[at];
      if (!passed_[at].is_reached() || (operation.kind != Kind::kWait && !operation.orders))
        continue;
      roots.insert(roots.end(), operation.next.begin(), operation.next.end());
    }
    return ptx::reachable(code_.operations.size(), roots, [&](std::uint32_t at, const auto& go) {
      for (const std::uint32_t to : code_.operations[at].next) go(to);
    });
  }

  // Waits, and all that may order a thread after the wait of another, or after an earlier launch:
  // by a flag. A barrier that comes before anyone can have waited, or seen a flag, does not. Nor
  // does what lanes do together there.
  std::vector<bool> find_ordering_ops() const {
    std::uint32_t fewest = kNone;  // barriers that a thread passes before
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      const Operation& operation = code_.operations[at];
      if ((operation.kind != Kind::kWait && !operation.orders) || !passed_[at].is_reached())
        continue;
      fewest = std::min(fewest, passed_[at].least);
    }
    const std::vector<bool> behind = find_behind_ordering();
    std::vector<bool> ordering_ops(code_.operations.size());
    for (std::uint32_t at = 0; at < ordering_ops.size(); ++at) {
      const Operation& operation = code_.operations[at];
      // Barriers are counted up to a bound only.
      const bool by_barrier = operation.kind == Kind::kBarrier && fewest != kNone &&
                              passed_[at].is_reached() &&
                              (passed_[at].most + 1 > fewest || passed_[at].most >= kManyMeetings);
      ordering_ops[at] = operation.kind == Kind::kWait || operation.orders || by_barrier ||
                         (operation.meets && behind[at]);
    }
    return ordering_ops;
  }

  bool meets_in_cluster() const {
    return std::ranges::any_of(code_.operations, [](const Operation& operation) {
      return passes(Meeting::kCluster, operation);
    });
  }

  // By Meeting: the number of times that it must have been passed for a thread to be after a wait;
  // kNone: it does not tell.
  struct OrderingBarriers {
    std::uint32_t block = kNone, cluster = kNone;
  };

  // A thread of the block is followed that waits for certain and arrives after that. All take part
  // in each completion: after the first one that the thread arrives at after its wait, all are
  // ordered. Each block of a cluster has such a thread.
  OrderingBarriers find_ordering_barriers(WaitOrdering& result) const {
    OrderingBarriers best;
    std::vector<Meeting> meetings;
    std::vector<std::uint32_t*> fewest;  // by meeting
    if (!is_disturbed(code_, Meeting::kBlock)) {
      meetings.push_back(Meeting::kBlock);
      fewest.push_back(&best.block);
    }
    if (meets_in_cluster() && !is_disturbed(code_, Meeting::kCluster)) {
      meetings.push_back(Meeting::kCluster);
      fewest.push_back(&best.cluster);
    }
    const std::uint64_t count =
        std::uint64_t{std::max(block_[0], 1u)} * std::max(block_[1], 1u) * std::max(block_[2], 1u);
    const std::uint32_t most = code_.operations.size() <= kFewOperations ? kMaxThreads : 1;
    const auto consider = [&](const KnownThread& thread) {
      const ThreadFacts facts = follow_thread(code_, thread, meetings);
      result.a_thread_waits |= facts.always_executes;
      for (std::size_t k = 0; k < meetings.size(); ++k) {
        const MeetingFacts& found = facts.meetings[k];
        if (found.meets_others) *fewest[k] = std::min(*fewest[k], found.arrivals_before + 1);
      }
    };
    // No further thread tells more.
    const auto is_done = [&] {
      return result.a_thread_waits &&
             std::ranges::all_of(fewest, [](const std::uint32_t* passes) { return *passes == 1; });
    };
    for (std::uint32_t n = 0; n < most && std::uint64_t{n} * kWarpThreads < count; ++n) {
      KnownThread thread;
      const std::uint32_t number = n * kWarpThreads;  // in the block, x first
      if (block_[0] != 0) {
        thread.block = block_;
        const std::uint32_t row = number / block_[0];
        thread.tid = {number % block_[0], row % std::max(block_[1], 1u),
                      row / std::max(block_[1], 1u)};
      }
      consider(thread);
      if (is_done()) break;
      if (!elects_ || block_[0] == 0) continue;
      thread.tid.reset();
      thread.warp = n;
      thread.leads = true;
      consider(thread);
      if (is_done()) break;
    }
    return best;
  }

  const Code& code_;
  const std::array<std::uint32_t, 3> block_;
  const bool elects_;
  const std::vector<Passed> passed_;  // barrier 0
};

}  // namespace

WaitOrdering find_order(const Code& code, const std::array<std::uint32_t, 3>& block) {
  return OrderFinder(code, block).find();
}

}  // namespace baton::overlap
