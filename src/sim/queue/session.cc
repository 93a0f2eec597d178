#include "sim/queue/session.h"

#include <algorithm>

#include "base/error.h"
#include "sim/device/settings.h"

namespace baton::sim {

Sessions::Sessions() : uncounted_(std::make_shared<Notes>(settings().common, fault_)) {}

NotesPtr Sessions::begin(const driver::Simulator::Options& options) {
  for (const Open& other : open_) {
    const std::optional<Schedule>& used = other.notes->options.schedule;
    if (!options.schedule || !used || *used == *options.schedule) continue;
    throw error(ErrorCode::kInvalidInput,
                "the simulated GPU executes another run by the schedule {}, so it cannot execute "
                "this one by the schedule {}: wait until the other run has ended, or use its "
                "schedule",
                to_string(*used), to_string(*options.schedule));
  }
  NotesPtr notes = std::make_shared<Notes>(options, fault_);
  open_.push_back({std::this_thread::get_id(), notes});
  return notes;
}

void Sessions::end(const NotesPtr& notes) {
  std::erase_if(open_, [&](const Open& open) { return open.notes == notes; });
  notes->findings.pass_on_to({common_, &common_->findings});
}

NotesPtr Sessions::of_caller() const {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) {
    return open.thread == std::this_thread::get_id();
  });
  return found == open_.rend() ? nullptr : found->notes;
}

Schedule Sessions::schedule() const {
  for (const Open& open : open_) {
    if (open.notes->options.schedule) return *open.notes->options.schedule;
  }
  return settings().common.schedule.value_or(Schedule{});
}

NotesPtr Sessions::common_notes(std::shared_ptr<FirstFault> fault) {
  auto notes = std::make_shared<Notes>(settings().common, std::move(fault));
  notes->findings.show_new(settings().first_seen);
  notes->findings.tell(settings().debugger);
  return notes;
}

}  // namespace baton::sim
