#include "play/conditions.h"

#include "base/error.h"

namespace baton::play {

Error too_many_iterations(const bind::PlannedStep& step, std::uint64_t at_most) {
  const auto& condition = std::get<bind::PlannedCondition>(step.action);
  return error_at(step.source->where, ErrorCode::kFault,
                  "{}: the value is not 0 after {} iterations, and at_most is {}; mend the steps "
                  "that set it to 0, or raise at_most",
                  step.label, at_most, condition.test.at_most->code().text);
}

}  // namespace baton::play
