#include "play/note_steps.h"

#include <string>
#include <utility>
#include <variant>

#include "base/error.h"
#include "play/moves.h"

namespace baton::play {
namespace {

std::array<std::uint32_t, 3> extent_of(const Dim3& extent) {
  return {extent.x, extent.y, extent.z};
}

std::string move_name(StepReport::Kind kind) {
  switch (kind) {
    case StepReport::Kind::kCopy:
      return "copy";
    case StepReport::Kind::kFill:
      return "fill";
    case StepReport::Kind::kCollective:
      return "collective";
    case StepReport::Kind::kLaunch:
      break;
  }
  throw error(ErrorCode::kInternal, "a launch was noted as a move");
}

}  // namespace

void note_step(trace::LaunchRecords& records, const bind::RunStep& at,
               const bind::TapeLaunch& launch, LaunchPlan& plan, bool is_repeated) {
  const LaunchConfig& config = plan.config();
  const KernelFacts& facts = plan.kernel().facts();
  trace::NotedStep step;
  step.number = at.number;
  step.launch = launch.site->launch->number;
  // The timeline has no place for a kernel between peers, and so no edge from one.
  const auto* const before =
      at.before == nullptr ? nullptr : std::get_if<bind::PlannedLaunch>(&at.before->action);
  if (before != nullptr) {
    step.after = before->number;
    step.early = at.programmatic;
  }
  step.kernel = facts.name;
  step.grid = extent_of(config.grid);
  step.block = extent_of(config.block);
  step.shared = config.shared;
  if (is_repeated) {
    plan.set_records(0);
    return records.add_repeated(std::move(step), facts.traced);
  }
  plan.set_records(records.add(std::move(step), facts.traced));
}

void note_step(trace::LaunchRecords& records, const bind::RunStep& at) {
  records.add_move(at.number, move_name(report_kind(*at.step)));
}

std::uint64_t count_traced_blocks(bind::Tape& tape) {
  std::uint64_t blocks = 0;
  bind::TapeWalk walk(tape);
  const auto count = [&](const bind::RunStep& at, const auto& action) {
    if constexpr (std::is_same_v<std::decay_t<decltype(action)>, bind::TapeLaunch>) {
      if (action.form == nullptr) return;
      const LaunchPlan& plan = at.programmatic ? *action.form->early : *action.form->full;
      if (plan.kernel().facts().traced) blocks += plan.config().grid.count();
    }
  };
  walk.run(count);
  return blocks;
}

}  // namespace baton::play
