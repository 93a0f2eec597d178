#include "pdl/thread.h"

#include <algorithm>
#include <span>
#include <vector>

#include "pdl/follower.h"
#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Guard = Follower::Guard;

constexpr std::uint32_t kMostBarriersCounted = 8;  // more are not counted

class FactFinder {
 public:
  FactFinder(const Follower& follower, Meeting meeting)
      : follower_(follower), code_(follower.code()), meeting_(meeting) {}

  ThreadFacts facts() const {
    BarriersBeforeWait barriers{*this};
    ptx::DataflowSolver<BarriersBeforeWait> solver(barriers, code_.order);
    solver.seed(0, 0);
    solver.run();
    ThreadFacts facts{.always_waits = true, .barriers_before_wait = 0};
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!solver.is_reached(at)) continue;
      if (code_.operations[at].kind == Kind::kEnd) facts.always_waits = false;
      facts.barriers_before_wait =
          std::max(facts.barriers_before_wait, barriers.after(at, solver.state(at)));
    }
    if (facts.barriers_before_wait >= kMostBarriersCounted) facts.barriers_before_wait = kNone;
    facts.meets_others = facts.always_waits && facts.barriers_before_wait != kNone &&
                         fewest_barriers() > facts.barriers_before_wait;
    return facts;
  }

 private:
  std::uint32_t fewest_barriers() const {
    BarriersPassed barriers{*this};
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

  // The most barriers that a path without a wait comes to.
  struct BarriersBeforeWait {
    using State = std::uint32_t;
    const FactFinder& finder;

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
      const bool arrives = arrives_at(finder.meeting_, operation) || operation.disturbs;
      return std::min(passed + (arrives ? 1 : 0), kMostBarriersCounted);
    }
  };

  // The fewest barriers that any path passes.
  struct BarriersPassed {
    struct State {
      std::uint32_t fewest = kNone;
    };
    const FactFinder& finder;

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
      if (arrives_at(finder.meeting_, operation) && is_certain) {
        passed.fewest = std::min(passed.fewest + 1, kMostBarriersCounted);
      }
      for (const std::uint32_t to : finder.follower_.followers(operation)) emit(to, passed);
    }
  };

  // Whether no path without a wait goes on from there.
  bool stops(std::uint32_t at) const {
    const Operation& operation = code_.operations[at];
    return (operation.kind == Kind::kTrap || operation.kind == Kind::kWait) &&
           follower_.guard(operation) == Guard::kTrue;
  }

  const Follower& follower_;
  const Code& code_;
  const Meeting meeting_;
};

}  // namespace

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

ThreadFacts follow_thread(const Code& code, const KnownThread& thread, Meeting meeting) {
  if (!thread.leads) return FactFinder(Follower(code, thread), meeting).facts();
  KnownThread any = thread;
  any.leads = false;
  const Follower everything(code, any);
  return FactFinder(Follower(code, thread, everything), meeting).facts();
}

std::vector<Value> find_values(const Code& code, const KnownThread& thread) {
  return Follower(code, thread).values();
}

std::vector<bool> find_reachable_unordered(const Code& code, const KnownThread& thread,
                                           const std::vector<bool>& stops) {
  const Follower follower(code, thread);
  const std::uint32_t begin = 0;
  return ptx::reachable(code.operations.size(), std::span(&begin, 1),
                        [&](std::uint32_t at, const auto& go) {
                          const Operation& operation = code.operations[at];
                          const bool ends = operation.kind == Kind::kTrap || stops[at];
                          if (ends && follower.guard(operation) == Guard::kTrue) return;
                          for (const std::uint32_t to : follower.followers(operation)) go(to);
                        });
}

}  // namespace baton::overlap
