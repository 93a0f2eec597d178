#include "exec/check.h"

#include "base/error.h"
#include "exec/evaluate.h"
#include "exec/walker.h"

namespace baton::exec {
namespace {

class RunChecker : public Walker {
 public:
  RunChecker(Plan& plan, const std::vector<std::int64_t>& symbols, const BufferTable& buffers)
      : Walker(plan, symbols), buffers_(buffers) {
    extent_.written.resize(buffers.size());
  }

  RunExtent check(Plan& plan) {
    walk(plan.steps);
    return std::move(extent_);
  }

 private:
  void visit(PlannedStep& step) override {
    add(1);
    std::visit([&](auto& action) { visit_action(action); }, step.action);
  }

  void repeat(PlannedRepeat& group, std::uint64_t count) override {
    if (count == 0) return;
    if (group.varies) {
      // Iterations count too: a group may hold nothing but groups that do not run.
      for (std::uint64_t index = 0; index < count; ++index) {
        add_iteration();
        iterate(group, index);
      }
      return;
    }
    const std::uint64_t outer = times_;
    if (__builtin_mul_overflow(times_, count, &times_)) times_ = UINT64_MAX;
    iterate(group, 0);
    times_ = outer;
  }

  void visit_action(PlannedLaunch& launch) {
    const LaunchValues values = evaluate(launch, slots(), buffers_);
    if (values.skipped) return;
    launch.kernel.check(values.config);
    for (const PlannedArgument& arg : launch.args) {
      if (arg.buffer() && !arg.read_only()) extent_.written[*arg.buffer()] = true;
    }
  }

  void visit_action(PlannedCopy& copy) {
    evaluate(copy, slots(), buffers_);
    extent_.written[copy.to] = true;
  }

  void visit_action(PlannedFill& fill) {
    evaluate(fill, slots(), buffers_);
    extent_.written[fill.buffer] = true;
  }

  void visit_action(PlannedRepeat&) {}  // is no leaf

  void add(std::uint64_t steps) {
    std::uint64_t added = 0;
    if (__builtin_mul_overflow(steps, times_, &added) || added > kMaxRunSteps - extent_.steps) {
      refuse();
    }
    extent_.steps += added;
  }

  void add_iteration() {
    if (++iterations_ > kMaxRunSteps) refuse();
  }

  [[noreturn]] static void refuse() {
    throw error(ErrorCode::kInvalidInput, "a run of more than {} steps; make its repeats smaller",
                kMaxRunSteps);
  }

  const BufferTable& buffers_;
  RunExtent extent_;
  std::uint64_t times_ = 1;  // executions of the open groups that are gone through once
  std::uint64_t iterations_ = 0;
};

}  // namespace

RunExtent check_run(Plan& plan, const std::vector<std::int64_t>& symbols,
                    const BufferTable& buffers) {
  return RunChecker(plan, symbols, buffers).check(plan);
}

}  // namespace baton::exec
