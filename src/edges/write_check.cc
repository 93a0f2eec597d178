#include "edges/write_check.h"

#include <fmt/format.h>

#include "base/error.h"
#include "edges/launch_binder.h"
#include "pdl/verdict/witnesses.h"

namespace baton::edges {

bool WriteCheck::check(const bind::LaunchExecution& execution, const overlap::BoundLaunch& bound,
                       std::span<const overlap::GivenArgument> arguments,
                       const overlap::VariableNumber& variable) {
  bool by_values = false;
  for (const overlap::BoundAccess& access : bound.accesses) {
    if (!access.group->writes || !access.memory || access.is_one_of) continue;
    const ProgramBuffer* const buffer = memory_[*access.memory].read_only;
    if (buffer == nullptr) continue;
    if (!checked_.emplace(execution.launch.number, *access.memory).second) continue;
    const std::string text = fmt::format(
        "the buffer {}, which has the role {}: no kernel may "
        "write it",
        buffer->name, to_string(buffer->role));
    by_values = true;
    const LaunchConfig& config = execution.config;
    const overlap::Witnesses found(*bound.footprint, arguments,
                                   {extents_of(config.block), extents_of(config.grid)}, variable,
                                   steps_);
    if (found.has(*access.group, *access.memory)) {
      if (forbidden_) continue;
      writes_weight_ = buffer->role == BufferRole::kWeight;
      forbidden_ = error_at(execution.step.source->where, ErrorCode::kFault,
                            "{} writes at {} {}; give the buffer the role inout, or mend the "
                            "kernel",
                            execution.step.label, access.group->where, text);
    } else {
      warnings_.push_back(
          fmt::format("{} may write at {} {}", execution.step.label, access.group->where, text));
    }
  }
  return by_values;
}

}  // namespace baton::edges
