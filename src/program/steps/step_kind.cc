#include "program/steps/step_kind.h"

#include <array>

#include "program/scope.h"

namespace baton {
namespace {

const std::array kKinds = {&kLaunchStepKind, &kCopyStepKind,  &kFillStepKind,    &kRepeatStepKind,
                           &kIfStepKind,     &kWhileStepKind, &kParallelStepKind};
static_assert(kKinds.size() == std::variant_size_v<StepAction>,
              "a kind of step has no row, or a row has no kind");

}  // namespace

std::span<const StepKind* const> step_kinds() {
  return kKinds;
}

void check_steps(std::vector<ProgramStep>& steps, ProgramScope& scope) {
  for (ProgramStep& step : steps) {
    located(step, [&] {
      std::visit([&](auto& action) { check_step(action, scope, step.where); }, step.action);
    });
  }
}

}  // namespace baton
