#include "exec/walker.h"

#include "base/error.h"
#include "exec/evaluate.h"

namespace baton::exec {

template <typename Work>
void Walker::located(const PlannedStep& step, Work&& work) const {
  try {
    work();
  } catch (Error& failure) {
    failure.at(step.source->where);
    if (const std::string values = indexes(); !values.empty()) failure.note("with " + values);
    throw;
  }
}

void Walker::walk(std::vector<PlannedStep>& steps) {
  for (PlannedStep& step : steps) {
    auto* group = std::get_if<PlannedRepeat>(&step.action);
    if (group == nullptr) {
      located(step, [&] { visit(step); });
      continue;
    }
    std::uint64_t count = 0;
    located(step, [&] { count = evaluate(*group, slots_); });
    try {
      repeat(*group, count);
    } catch (Error& failure) {
      failure.at(step.source->where);
      throw;
    }
  }
}

void Walker::repeat(PlannedRepeat& group, std::uint64_t count) {
  for (std::uint64_t index = 0; index < count; ++index) iterate(group, index);
}

void Walker::iterate(PlannedRepeat& group, std::uint64_t index) {
  slots_[group.slot] = static_cast<std::int64_t>(index);
  open_.push_back(&group);
  walk(group.steps);
  open_.pop_back();
}

std::string Walker::indexes() const {
  std::string text;
  for (const PlannedRepeat* group : open_) {
    if (group->index.empty()) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", group->index, slots_[group->slot]);
  }
  return text;
}

}  // namespace baton::exec
