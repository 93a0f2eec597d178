#include "pdl/order.h"

#include <algorithm>
#include <limits>

#include "pdl/path.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kManyBarriers = 16;  // no more are counted
constexpr std::uint32_t kMaxThreads = 32;    // that are followed in search of one that waits
constexpr std::uint32_t kWarp = 32;
constexpr std::size_t kFewOperations = std::size_t{1} << 16;  // of larger code one thread is

// How often a thread has passed barrier 0 when it comes to an operation, on any path.
struct Passed {
  std::uint32_t least = kNone;  // kNone: it does not come there
  std::uint32_t most = 0;
};

class OrderFinder {
 public:
  OrderFinder(const Code& code, const std::array<std::uint32_t, 3>& block)
      : code_(code), block_(block), passed_(code.operations.size()) {}

  WaitOrdering find() {
    WaitOrdering result;
    count_barriers();
    const std::vector<bool> unwaited = find_unwaited();
    result.of.assign(code_.operations.size(), Order::kAfter);
    result.reachable.resize(code_.operations.size());
    result.every_thread_waits = true;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      const Operation& operation = code_.operations[at];
      result.reachable[at] = passed_[at].least != kNone;
      if (!result.reachable[at]) continue;
      result.waits |= operation.kind == Kind::kWait;
      if (operation.kind == Kind::kEnd && unwaited[at]) result.every_thread_waits = false;
    }
    result.a_thread_waits = result.every_thread_waits;
    const std::uint32_t ordering_barrier = result.waits ? find_ordering_barrier(result) : kNone;
    const std::vector<bool> ordering_ops = find_ordering_ops(result.waits);
    const std::vector<bool> open = find_open(ordering_ops);
    const PathSearch paths(code_);
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!result.reachable[at] || !unwaited[at]) continue;
      if (ordering_barrier != kNone && passed_[at].least >= ordering_barrier) continue;
      result.of[at] = open[at] ? Order::kBefore : Order::kUnclear;
      const Kind kind = code_.operations[at].kind;
      const bool counts = kind == Kind::kLoad || kind == Kind::kStore || kind == Kind::kAtomic;
      // What a thread decided before may keep it from coming here.
      if (open[at] && counts && code_.operations[at].space != Operation::Space::kParam &&
          !paths.reaches(at, ordering_ops)) {
        result.of[at] = Order::kUnclear;
      }
    }
    result.ordering_ops = ordering_ops;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!result.reachable[at] || code_.operations[at].kind != Kind::kTrigger) continue;
      result.triggers = true;
      result.triggers_before_wait |= result.of[at] != Order::kAfter;
    }
    return result;
  }

 private:
  static bool is_certain(const Operation& operation) { return operation.guard == kNone; }

  void count_barriers() {
    passed_[0] = {0, 0};
    std::vector<std::uint32_t> queue = {0};
    while (!queue.empty()) {
      const std::uint32_t at = queue.back();
      queue.pop_back();
      const Operation& operation = code_.operations[at];
      Passed after = passed_[at];
      if (operation.kind == Kind::kTrap && is_certain(operation)) continue;
      if (operation.kind == Kind::kBarrier) {
        after.most = std::min(after.most + 1, kManyBarriers);
        if (is_certain(operation)) after.least = std::min(after.least + 1, kManyBarriers);
      }
      for (std::uint32_t to : operation.next) {
        Passed& there = passed_[to];
        const Passed joined = {std::min(there.least, after.least),
                               std::max(there.most, after.most)};
        if (joined.least == there.least && joined.most == there.most) continue;
        there = joined;
        queue.push_back(to);
      }
    }
  }

  // What can be reached without passing one of `stops`.
  std::vector<bool> flood(const std::vector<bool>& ordering_ops) const {
    std::vector<bool> seen(code_.operations.size());
    std::vector<std::uint32_t> queue = {0};
    seen[0] = true;
    while (!queue.empty()) {
      const std::uint32_t at = queue.back();
      queue.pop_back();
      const Operation& operation = code_.operations[at];
      if (is_certain(operation) && (ordering_ops[at] || operation.kind == Kind::kTrap)) continue;
      for (std::uint32_t to : operation.next) {
        if (!seen[to]) queue.push_back(to);
        seen[to] = true;
      }
    }
    return seen;
  }

  std::vector<bool> find_unwaited() const {
    std::vector<bool> waits(code_.operations.size());
    for (std::size_t at = 0; at < waits.size(); ++at) {
      waits[at] = code_.operations[at].kind == Kind::kWait;
    }
    return flood(waits);
  }

  // Waits, and all that may order a thread behind the wait of another. A barrier that comes before
  // anyone can have waited does not.
  std::vector<bool> find_ordering_ops(bool waits) const {
    std::uint32_t fewest = kNone;  // barriers that a thread passes before it waits
    for (std::size_t at = 0; at < passed_.size(); ++at) {
      if (code_.operations[at].kind == Kind::kWait) fewest = std::min(fewest, passed_[at].least);
    }
    std::vector<bool> ordering_ops(code_.operations.size());
    for (std::size_t at = 0; at < ordering_ops.size(); ++at) {
      const Operation& operation = code_.operations[at];
      const bool by_barrier = operation.kind == Kind::kBarrier && passed_[at].least != kNone &&
                              passed_[at].most + 1 > fewest;
      ordering_ops[at] =
          operation.kind == Kind::kWait || (waits && (operation.orders || by_barrier));
    }
    return ordering_ops;
  }

  std::vector<bool> find_open(const std::vector<bool>& ordering_ops) const {
    return flood(ordering_ops);
  }

  // The number of times that barrier 0 must have been passed for a thread to be behind a wait;
  // kNone: it does not tell. A thread of the block is followed that waits for certain, and all take
  // part in each completion of the barrier: behind the first one that it comes to after its wait,
  // all are ordered.
  std::uint32_t find_ordering_barrier(WaitOrdering& result) const {
    bool disturbed = false;
    for (const Operation& operation : code_.operations) {
      disturbed |= operation.disturbs || operation.kind == Kind::kOpen;
    }
    const std::uint64_t count =
        std::uint64_t{std::max(block_[0], 1u)} * std::max(block_[1], 1u) * std::max(block_[2], 1u);
    const std::uint32_t most = code_.operations.size() <= kFewOperations ? kMaxThreads : 1;
    std::uint32_t best = kNone;
    for (std::uint32_t n = 0; n < most && std::uint64_t{n} * kWarp < count; ++n) {
      KnownThread thread;
      const std::uint32_t number = n * kWarp;  // in the block, x first
      if (block_[0] != 0) {
        thread.block = block_;
        const std::uint32_t row = number / block_[0];
        thread.tid = {number % block_[0], row % std::max(block_[1], 1u),
                      row / std::max(block_[1], 1u)};
      }
      const ThreadFacts facts = follow_thread(code_, thread);
      if (!facts.always_waits) continue;
      result.a_thread_waits = true;
      if (!disturbed && facts.barriers_before_wait != kNone) {
        best = std::min(best, facts.barriers_before_wait + 1);
      }
      if (best == 1) break;
    }
    return best;
  }

  const Code& code_;
  const std::array<std::uint32_t, 3> block_;
  std::vector<Passed> passed_;
};

}  // namespace

WaitOrdering find_order(const Code& code, const std::array<std::uint32_t, 3>& block) {
  return OrderFinder(code, block).find();
}

}  // namespace baton::overlap
