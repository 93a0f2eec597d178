#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bind/tape.h"

namespace baton::bind {

// One step of a run, with the edge that leads to it.
struct RunStep {
  const PlannedStep* step = nullptr;
  // The launch right before it, or the collective there that a kernel between peers executes; null:
  // another step, or none.
  const PlannedStep* before = nullptr;
  std::uint32_t row = 0;      // of the report; the caller of the walk sets it
  bool programmatic = false;  // the edge from `before`: the step may start early
  // A collective: whoever executes it sets this if it sends a kernel of Baton's own.
  bool own_kernel = false;
  // Among the steps of a walk, where steps are numbered; equal in each iteration of a while.
  std::uint64_t number = 0;
};

// Where branches begin, and where they end.
struct TapeFork {
  const TapeParallel& parallel;
};
struct TapeJoin {
  const TapeParallel& parallel;
};
// A launch with events was sent, or had an empty grid.
struct TapeRecorded {
  const PlannedLaunch& launch;
  bool sent;
};

// A visitor of a tape: what it does at the steps, at the tests of conditions, and at forks,
// branches and joins.
template <typename Visit, typename Test, typename Branch>
struct TapeVisitor {
  Visit visit;
  Test test;
  Branch branch;
};

inline constexpr auto kNoBranches = [](const auto&) {};

// Goes through a tape in the order of a run, loops unrolled. Allocates nothing. One walk of a tape
// at a time. `kNumbered`: whether steps are numbered, which takes time at each of them.
template <bool kNumbered>
class BasicTapeWalk {
 public:
  // A test that has the steps of each condition executed once.
  static constexpr auto kOnce = [](const RunStep&, TapeCondition&, std::uint64_t times) {
    return times == 0;
  };

  explicit BasicTapeWalk(Tape& tape) : tape_(tape), slots_(tape.begin_walk()) {}

  // Calls `visit(RunStep&, TapeLaunch&)`, and the same with TapeMove, for every step. Calls
  // `test(const RunStep&, TapeCondition&, n)` before each execution of a condition's steps, after n
  // of them; they are executed (again) where it returns true.
  // Calls `branch(TapeFork)` before the branches of a parallel, `branch(TapeBranch&)` before each
  // of them, and `branch(TapeJoin)` after the last one; `branch(TapeAfter&)` before a launch that
  // comes after events, and `branch(TapeRecorded)` after one that records some. An Error gains the
  // step's place, and the values of the indexes as a note.
  template <typename Visit, typename Test, typename Branch>
  void run(Visit&& visit, Test&& test, Branch&& branch) {
    TapeVisitor<std::decay_t<Visit>, std::decay_t<Test>, std::decay_t<Branch>> visitor{
        std::forward<Visit>(visit), std::forward<Test>(test), std::forward<Branch>(branch)};
    try {
      steps(tape_.steps, visitor);
    } catch (Error& failure) {
      if (at_.step != nullptr) {
        failure.at(at_.step->source->where);
        if (const std::string values = indexes(); !values.empty()) failure.note("with " + values);
      }
      throw;
    }
  }

  template <typename Visit, typename Test>
  void run(Visit&& visit, Test&& test) {
    run(std::forward<Visit>(visit), std::forward<Test>(test), kNoBranches);
  }
  // The same, with the steps of each condition once.
  template <typename Visit>
  void run(Visit&& visit) {
    run(std::forward<Visit>(visit), kOnce, kNoBranches);
  }

  // The values of symbols and indexes at the step that is visited.
  const std::vector<std::int64_t>& slots() const { return slots_; }
  // "layer = 3, i = 0".
  std::string indexes() const { return indexes_text(*at_.step, slots_); }

 private:
  // Most steps are launches, and many follow one another as fast as they can: their code is inline
  // here, also in the loop of a group, and everything else is a call.
  template <typename Visit>
  [[gnu::always_inline]] void steps(std::vector<TapeStep>& list, Visit& visit) {
    for (TapeStep& step : list) {
      if (auto* launch = std::get_if<TapeLaunch>(&step.action)) {
        act(step, *launch, visit);
      } else {
        other(step, visit);
      }
    }
  }

  template <typename Visit>
  [[gnu::noinline]] void other(TapeStep& step, Visit& visit) {
    std::visit([&](auto& action) { act(step, action, visit); }, step.action);
  }

  RunStep next(const TapeStep& step, const PlannedStep* before) {
    if constexpr (kNumbered) return {step.step, before, 0, false, false, number_++};
    return {step.step, before, 0, false, false, 0};
  }

  template <typename Visit>
  void act(TapeStep& step, TapeLaunch& launch, Visit& visit) {
    at_ = next(step, last_);
    if (launch.patched) tape_.patch(launch, slots_);
    const bool sent = launch.form != nullptr;
    at_.programmatic = sent && last_ != nullptr && launch.site->decision.early;
    visit.visit(at_, launch);
    last_ = sent ? step.step : nullptr;
  }

  template <typename Planned, typename Visit>
  void act(TapeStep& step, TapeMove<Planned>& move, Visit& visit) {
    at_ = next(step, nullptr);
    if (move.patched) tape_.patch(move, slots_);
    const bool is_kernel = tape_.is_kernel(move);
    if (is_kernel) at_.before = last_;
    at_.programmatic = at_.before != nullptr && tape_.starts_early(step.step->leaf);
    visit.visit(at_, move);
    last_ = is_kernel ? step.step : nullptr;
  }
  template <typename Visit>
  void act(TapeStep&, TapeIndex& index, Visit&) {
    slots_[index.slot] = index.value;
  }
  template <typename Visit>
  void act(TapeStep& step, TapeLoop& loop, Visit& visit) {
    at_ = {step.step, nullptr, 0, false, false, number_};
    const std::uint64_t count = tape_.count(loop, slots_);
    for (std::uint64_t index = 0; index < count; ++index) {
      slots_[loop.group->slot] = static_cast<std::int64_t>(index);
      steps(loop.steps, visit);
    }
  }
  template <typename Visit>
  void act(TapeStep& step, TapeCondition& condition, Visit& visit) {
    const RunStep here{step.step, nullptr, 0, false, false, number_};
    at_ = here;
    if (condition.patched) tape_.patch(condition, slots_);
    std::uint64_t times = 0;
    for (; visit.test(here, condition, times); ++times) {
      number_ = here.number;
      last_ = nullptr;
      steps(condition.steps, visit);
      at_ = here;
    }
    if (times == 0) pass(condition);
    last_ = nullptr;
  }
  // Nothing overlaps where branches begin and end.
  template <typename Visit>
  void act(TapeStep& step, TapeParallel& parallel, Visit& visit) {
    const RunStep here{step.step, nullptr, 0, false, false, number_};
    at_ = here;
    visit.branch(TapeFork{parallel});
    steps(parallel.steps, visit);
    at_ = here;
    last_ = nullptr;
    visit.branch(TapeJoin{parallel});
  }
  template <typename Visit>
  void act(TapeStep&, TapeBranch& branch, Visit& visit) {
    last_ = nullptr;
    visit.branch(std::as_const(branch));
    steps(branch.steps, visit);
  }
  // Its edge from the step before is full.
  template <typename Visit>
  void act(TapeStep&, TapeAfter& after, Visit& visit) {
    last_ = nullptr;
    visit.branch(std::as_const(after));
  }
  template <typename Visit>
  void act(TapeStep&, TapeEvents& events, Visit& visit) {
    visit.branch(TapeRecorded{*events.launch, last_ != nullptr});
  }
  // Counts the steps of a condition that are not executed.
  void pass(TapeCondition& condition) {
    const auto visit = [](RunStep&, const auto&) {};
    TapeVisitor<decltype(visit), decltype(kOnce), decltype(kNoBranches)> visitor{visit, kOnce,
                                                                                 kNoBranches};
    steps(condition.steps, visitor);
  }

  Tape& tape_;
  std::vector<std::int64_t>& slots_;  // the tape's
  RunStep at_;
  std::uint64_t number_ = 0;  // of the next step
  // The step before, if it was a launch that was sent, or a kernel between peers.
  const PlannedStep* last_ = nullptr;
};
using TapeWalk = BasicTapeWalk<true>;

}  // namespace baton::bind
