#include "program/steps/step_kind.h"

#include <array>

#include "program/expression/scope.h"

namespace baton {
namespace {

const auto& kCollectives = kCollectiveStepKinds;
const std::array kKinds = {&kLaunchStepKind,  &kCopyStepKind,   &kFillStepKind,   &kCollectives[0],
                           &kCollectives[1],  &kCollectives[2], &kCollectives[3], &kCollectives[4],
                           &kCollectives[5],  &kRepeatStepKind, &kIfStepKind,     &kWhileStepKind,
                           &kParallelStepKind};
static_assert(kKinds.size() == std::variant_size_v<StepAction> - 1 +
                                   std::tuple_size_v<decltype(kCollectiveStepKinds)>,
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
