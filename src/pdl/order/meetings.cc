#include "pdl/order/meetings.h"

#include <algorithm>

#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

class MeetingCount {
 public:
  using State = Passed;
  MeetingCount(const Code& code, const std::vector<Passes>& passes)
      : code_(code), passes_(passes) {}

  static bool join(Passed& into, const Passed& from) {
    const Passed joined = {std::min(into.least, from.least), std::max(into.most, from.most)};
    if (joined.least == into.least && joined.most == into.most) return false;
    into = joined;
    return true;
  }

  template <typename Emit>
  void flow(std::uint32_t at, Passed after, const Emit& emit) const {
    const Operation& operation = code_.operations[at];
    if (operation.kind == Kind::kTrap && is_certain(operation)) return;
    if (passes_[at] != Passes::kNever) after.most = std::min(after.most + 1, kManyMeetings);
    if (passes_[at] == Passes::kAlways) after.least = std::min(after.least + 1, kManyMeetings);
    for (const std::uint32_t to : operation.next) emit(to, after);
  }

 private:
  const Code& code_;
  const std::vector<Passes>& passes_;
};

bool disturbs(Meeting meeting, const Operation& operation) {
  if (operation.kind == Kind::kOpen) return true;
  if (meeting == Meeting::kBlock) return operation.disturbs;
  return arrives_at(meeting, operation) && operation.instruction->has("relaxed");
}

}  // namespace

std::vector<Passed> count_meetings(const Code& code, Meeting meeting) {
  std::vector<Passes> by_operation(code.operations.size(), Passes::kNever);
  for (std::size_t at = 0; at < by_operation.size(); ++at) {
    const Operation& operation = code.operations[at];
    if (!passes(meeting, operation)) continue;
    by_operation[at] = is_certain(operation) ? Passes::kAlways : Passes::kPerhaps;
  }
  return count_meetings(code, by_operation);
}

std::vector<Passed> count_meetings(const Code& code, const std::vector<Passes>& passes) {
  MeetingCount count(code, passes);
  ptx::DataflowSolver<MeetingCount> solver(count, code.order);
  solver.seed(0, {0, 0});
  solver.run();
  std::vector<Passed> passed(code.operations.size());
  for (std::uint32_t at = 0; at < passed.size(); ++at) {
    if (solver.is_reached(at)) passed[at] = solver.state(at);
  }
  return passed;
}

bool is_disturbed(const Code& code, Meeting meeting) {
  return std::ranges::any_of(code.operations, [meeting](const Operation& operation) {
    return disturbs(meeting, operation);
  });
}

}  // namespace baton::overlap
