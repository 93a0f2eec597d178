#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/pdl.h"
#include "exec/plan.h"

namespace baton::exec {

// Goes through a plan as it is executed, with the values of symbols and indexes at hand. What a
// step does is the derived class's matter. Errors gain the step's place, and the values of the
// indexes as a note.
class Walker {
 public:
  virtual ~Walker() = default;

 protected:
  // `symbols` in the program's order.
  Walker(const Plan& plan, const std::vector<std::int64_t>& symbols) : slots_(symbols) {
    slots_.resize(plan.slots);
  }

  void walk(std::vector<PlannedStep>& steps);

  // A launch, a copy or a fill.
  virtual void visit(PlannedStep& step) = 0;
  // A group that is executed `count` times: every iteration in turn, unless the derived class knows
  // better.
  virtual void repeat(PlannedRepeat& group, std::uint64_t count);
  void iterate(PlannedRepeat& group, std::uint64_t index);

  const std::vector<std::int64_t>& slots() const { return slots_; }
  bool in_group() const { return !open_.empty(); }
  // The slot of the innermost open group's index.
  std::optional<std::size_t> index_slot() const {
    if (open_.empty()) return std::nullopt;
    return open_.back()->slot;
  }
  // What was executed last, which `visit` keeps up.
  Before before_ = Before::kNothing;

  // "layer = 3, i = 0": of the open groups whose index has a name.
  std::string indexes() const;

 private:
  template <typename Work>
  void located(const PlannedStep& step, Work&& work) const;

  std::vector<std::int64_t> slots_;
  std::vector<const PlannedRepeat*> open_;  // outermost first
};

}  // namespace baton::exec
