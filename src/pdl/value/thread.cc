#include "pdl/value/thread.h"

#include <algorithm>
#include <span>
#include <vector>

#include "pdl/value/follower.h"
#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Guard = Follower::Guard;

constexpr std::uint32_t kMostBarriersCounted = 8;  // more are not counted

// By operation: whether the thread may come there without a certain one that `stops` it.
template <typename Stops>
std::vector<bool> reached_without(const Follower& follower, const Stops& stops) {
  const std::vector<Operation>& operations = follower.code().operations;
  const std::uint32_t begin = 0;
  return ptx::reachable(operations.size(), std::span(&begin, 1),
                        [&](std::uint32_t at, const auto& go) {
                          const Operation& operation = operations[at];
                          const bool ends = operation.kind == Kind::kTrap || stops(at);
                          if (ends && follower.guard(operation) == Guard::kTrue) return;
                          for (const std::uint32_t to : follower.followers(operation)) go(to);
                        });
}

class FactFinder {
 public:
  FactFinder(const Follower& follower, const Landmark& landmark)
      : follower_(follower), code_(follower.code()), landmark_(landmark) {}

  ThreadFacts facts(std::span<const Meeting> meetings) const {
    ThreadFacts facts;
    facts.meetings.resize(meetings.size());
    const std::vector<bool> before = reached_without(
        follower_, [&](std::uint32_t at) { return landmark_(code_.operations[at]); });
    facts.always_executes = true;
    for (std::uint32_t at = 0; at < code_.operations.size() && facts.always_executes; ++at) {
      facts.always_executes = !(before[at] && code_.operations[at].kind == Kind::kEnd);
    }
    if (!facts.always_executes) return facts;
    for (std::size_t k = 0; k < meetings.size(); ++k) {
      MeetingFacts& found = facts.meetings[k];
      found.arrivals_before = most_arrivals(meetings[k]);
      found.meets_others =
          found.arrivals_before != kNone && fewest_arrivals(meetings[k]) > found.arrivals_before;
    }
    return facts;
  }

 private:
  // Before the landmark, on any path; kNone: too many to count.
  std::uint32_t most_arrivals(Meeting meeting) const {
    BarriersBefore barriers{*this, meeting};
    ptx::DataflowSolver<BarriersBefore> solver(barriers, code_.order);
    solver.seed(0, 0);
    solver.run();
    std::uint32_t most = 0;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (solver.is_reached(at)) most = std::max(most, barriers.after(at, solver.state(at)));
    }
    return most >= kMostBarriersCounted ? kNone : most;
  }

  // Until the thread ends, on any path.
  std::uint32_t fewest_arrivals(Meeting meeting) const {
    BarriersPassed barriers{*this, meeting};
    ptx::DataflowSolver<BarriersPassed> solver(barriers, code_.order);
    solver.seed(0, {0});
    solver.run();
    std::uint32_t fewest = kNone;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (code_.operations[at].kind != Kind::kEnd || !solver.is_reached(at)) continue;
      fewest = std::min(fewest, solver.state(at).fewest);
    }
    return fewest;
  }

  // The most barriers that a path without the landmark comes to.
  struct BarriersBefore {
    using State = std::uint32_t;
    const FactFinder& finder;
    const Meeting meeting;

    static bool join(State& into, State from) {
      if (from <= into) return false;
      into = from;
      return true;
    }
    template <typename Emit>
    void flow(std::uint32_t at, State passed, const Emit& emit) const {
      if (finder.stops(at)) return;
      const State behind = after(at, passed);
      for (const std::uint32_t to : finder.follower_.followers(finder.code_.operations[at])) {
        emit(to, behind);
      }
    }
    State after(std::uint32_t at, State passed) const {
      if (finder.stops(at)) return passed;
      const Operation& operation = finder.code_.operations[at];
      const bool arrives = arrives_at(meeting, operation) || operation.disturbs;
      return std::min(passed + (arrives ? 1 : 0), kMostBarriersCounted);
    }
  };

  // The fewest barriers that any path passes.
  struct BarriersPassed {
    struct State {
      std::uint32_t fewest = kNone;
    };
    const FactFinder& finder;
    const Meeting meeting;

    static bool join(State& into, State from) {
      if (from.fewest >= into.fewest) return false;
      into = from;
      return true;
    }
    template <typename Emit>
    void flow(std::uint32_t at, State passed, const Emit& emit) const {
      const Operation& operation = finder.code_.operations[at];
      const bool is_certain = finder.follower_.guard(operation) == Guard::kTrue;
      if (operation.kind == Kind::kTrap && is_certain) return;
      if (arrives_at(meeting, operation) && is_certain) {
        passed.fewest = std::min(passed.fewest + 1, kMostBarriersCounted);
      }
      for (const std::uint32_t to : finder.follower_.followers(operation)) emit(to, passed);
    }
  };

  // Whether no path without the landmark goes on from there.
  bool stops(std::uint32_t at) const {
    const Operation& operation = code_.operations[at];
    return (operation.kind == Kind::kTrap || landmark_(operation)) &&
           follower_.guard(operation) == Guard::kTrue;
  }

  const Follower& follower_;
  const Code& code_;
  const Landmark& landmark_;
};

}  // namespace

bool is_wait(const Operation& operation) {
  return operation.kind == Operation::Kind::kWait;
}

bool arrives_at(Meeting meeting, const Operation& operation) {
  if (meeting == Meeting::kBlock) return operation.kind == Kind::kBarrier;
  return operation.instruction != nullptr && operation.instruction->opcode == "barrier" &&
         operation.instruction->has("cluster") && operation.instruction->has("arrive");
}

bool passes(Meeting meeting, const Operation& operation) {
  if (meeting == Meeting::kBlock) return operation.kind == Kind::kBarrier;
  return operation.instruction != nullptr && operation.instruction->opcode == "barrier" &&
         operation.instruction->has("cluster") && operation.instruction->has("wait");
}

ThreadFacts follow_thread(const Code& code, const KnownThread& thread,
                          std::span<const Meeting> meetings, const Landmark& landmark) {
  if (!thread.leads) return FactFinder(Follower(code, thread), landmark).facts(meetings);
  KnownThread any = thread;
  any.leads = false;
  const Follower everything(code, any);
  return FactFinder(Follower(code, thread, everything), landmark).facts(meetings);
}

std::vector<Value> find_values(const Code& code, const KnownThread& thread) {
  return Follower(code, thread, std::vector<bool>(code.values(), true)).values();
}

std::vector<bool> find_reachable_unordered(const Code& code, const KnownThread& thread,
                                           const std::vector<bool>& stops) {
  return reached_without(Follower(code, thread), [&](std::uint32_t at) { return stops[at]; });
}

}  // namespace baton::overlap
