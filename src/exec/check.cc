#include "exec/check.h"

#include <utility>

#include "base/error.h"
#include "exec/edges.h"
#include "exec/evaluate.h"
#include "exec/spread.h"
#include "exec/walker.h"

namespace baton::exec {
namespace {

class RunChecker : public Walker {
 public:
  RunChecker(Plan& plan, const std::vector<std::int64_t>& symbols, const BufferTable& buffers,
             const Stream& stream, Footprints& footprints, bool has_pdl)
      : Walker(plan, symbols),
        buffers_(buffers),
        stream_(stream),
        judge_(plan, buffers, footprints, has_pdl) {
    extent_.written.resize(buffers.size());
    extent_.launches.resize(plan.launches);
    planned_.resize(plan.launches);
  }

  RunExtent check(Plan& plan) {
    walk(plan.steps);
    extent_.edges = judge_.reports();
    extent_.early = judge_.early();
    extent_.waits = judge_.waits();
    extent_.refusal = judge_.refusal();
    extent_.unsafe = judge_.unsafe();
    for (LaunchReport& launch : extent_.launches) {
      // Something further on may have forbidden it.
      if (launch.config && !extent_.early[launch.number]) launch.config->attributes.set(pdl(false));
    }
    extent_.spreading =
        spread(stream_.device(), planned_, judge_.handovers(), extent_.edges, extent_.launches);
    return std::move(extent_);
  }

 private:
  void visit(PlannedStep& step) override {
    add(1);
    std::visit([&](auto& action) { visit_action(action, step); }, step.action);
  }

  void repeat(PlannedRepeat& group, std::uint64_t count) override {
    if (count == 0) return;
    if (group.varies) {
      // Iterations count too: a group may hold nothing but groups that do not run.
      for (std::uint64_t index = 0; index < count; ++index) {
        add_iterations();
        iterate(group, index);
      }
      return;
    }
    // The first iteration follows what stands before the group, the others their own last step.
    add_iterations();
    iterate(group, 0);
    if (count == 1) return;
    const std::uint64_t outer = times_;
    if (__builtin_mul_overflow(times_, count - 1, &times_)) times_ = UINT64_MAX;
    add_iterations();
    iterate(group, 1);
    // Where a wait does not cover all that came before, what is two iterations ago counts too.
    times_ = 0;
    if (count > 2 && judge_.leaks()) iterate(group, 2);
    times_ = outer;
  }

  void visit_action(PlannedLaunch& launch, const PlannedStep& step) {
    LaunchValues values = evaluate(launch, slots(), buffers_);
    check_edge(launch.edge, before_, in_group());
    bool programmatic = false;
    if (values.skipped) {
      judge_.skip(launch, before_);
    } else {
      programmatic = judge_.launch(launch, step, values, slots(), before_);
    }
    before_ = values.skipped ? Before::kSkippedLaunch : Before::kLaunch;

    planned_[launch.number] = &launch;
    LaunchReport& report = extent_.launches[launch.number];
    report.number = launch.number;
    report.kernel = step.label;
    report.where = step.source->where;
    report.executions += times_;
    if (values.skipped) {
      report.skipped += times_;
      return;
    }
    values.config.stream = stream_;
    if (programmatic) values.config.attributes.set(pdl());
    // What was packed before has passed.
    if (!launch.sent || !same_config(launch.sent->config(), values.config)) {
      launch.kernel.check(values.config);
    }
    pack(launch, values.config, slots(), buffers_);
    report.config = values.config;
    for (const PlannedArgument& arg : launch.args) {
      if (arg.buffer() && !arg.read_only()) extent_.written[*arg.buffer()] = true;
    }
  }

  void visit_action(PlannedCopy& copy, const PlannedStep&) {
    before_ = Before::kCopyOrFill;
    judge_.other();
    evaluate(copy, slots(), buffers_);
    extent_.written[copy.to] = true;
  }

  void visit_action(PlannedFill& fill, const PlannedStep&) {
    before_ = Before::kCopyOrFill;
    judge_.other();
    evaluate(fill, slots(), buffers_);
    extent_.written[fill.buffer] = true;
  }

  void visit_action(PlannedRepeat&, const PlannedStep&) {}  // is no leaf

  void add(std::uint64_t steps) {
    std::uint64_t added = 0;
    if (__builtin_mul_overflow(steps, times_, &added) || added > kMaxRunSteps - extent_.steps) {
      refuse();
    }
    extent_.steps += added;
  }

  // They count like steps: a run goes through those in which nothing happens, too.
  void add_iterations() {
    if (times_ > kMaxRunSteps - iterations_) refuse();
    iterations_ += times_;
  }

  [[noreturn]] static void refuse() {
    throw error(ErrorCode::kInvalidInput,
                "a run of more than {} steps, or iterations of its repeats; make them smaller",
                kMaxRunSteps);
  }

  const BufferTable& buffers_;
  const Stream& stream_;
  EdgeJudge judge_;
  RunExtent extent_;
  std::vector<const PlannedLaunch*> planned_;  // by number
  std::uint64_t times_ = 1;  // executions of the open groups that are gone through once
  std::uint64_t iterations_ = 0;
};

}  // namespace

RunExtent check_run(Plan& plan, const std::vector<std::int64_t>& symbols,
                    const BufferTable& buffers, const Stream& stream, Footprints& footprints,
                    bool has_pdl) {
  return RunChecker(plan, symbols, buffers, stream, footprints, has_pdl).check(plan);
}

}  // namespace baton::exec
