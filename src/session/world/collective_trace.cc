#include "session/world/collective_trace.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace baton {
namespace {

// More are left to the comparison of messages during the run.
constexpr std::size_t kMostRuns = 1 << 16;
constexpr std::uint64_t kMostVisits = 1 << 18;

using Steps = std::vector<bind::PlannedStep>;

bool exchanges(const Steps& steps) {
  return std::ranges::any_of(steps, [](const bind::PlannedStep& step) {
    if (std::holds_alternative<bind::PlannedCollective>(step.action)) return true;
    const Steps* const inner = bind::inner_steps(step);
    return inner != nullptr && exchanges(*inner);
  });
}

// Whether what is exchanged depends on the index.
bool depends_on(const Steps& steps, std::size_t slot) {
  return std::ranges::any_of(steps, [slot](const bind::PlannedStep& step) {
    if (const auto* found = std::get_if<bind::PlannedCollective>(&step.action)) {
      return bind::uses_slot(*found, slot);
    }
    const Steps* const inner = bind::inner_steps(step);
    if (inner == nullptr || !exchanges(*inner)) return false;
    const auto* repeat = std::get_if<bind::PlannedRepeat>(&step.action);
    return (repeat != nullptr && repeat->count.uses_slot(slot)) || depends_on(*inner, slot);
  });
}

void append(std::map<std::uint32_t, ExchangeSequence>& to,
            const std::map<std::uint32_t, ExchangeSequence>& from, std::uint64_t times) {
  for (const auto& [rank, sequence] : from) to[rank].append(sequence, times);
}

class Tracer {
 public:
  Tracer(const LoadedProgramState& state, const ProgramValues& values)
      : state_(state), values_(values), slots_(values.slots()) {
    slots_.resize(state.plan.slots);
  }

  CollectiveTrace trace() {
    CollectiveTrace all = empty();
    follow(state_.plan.steps, false, all);
    return all;
  }

 private:
  CollectiveTrace empty() const {
    CollectiveTrace none;
    none.groups.resize(state_.program.world()->groups.size() + 1);
    return none;
  }

  void follow(const Steps& steps, bool in_condition, CollectiveTrace& all) {
    for (const bind::PlannedStep& step : steps) {
      if (const auto* collective = std::get_if<bind::PlannedCollective>(&step.action)) {
        visit(step, *collective, in_condition, all);
        continue;
      }
      const Steps* const inner = bind::inner_steps(step);
      if (inner == nullptr || !exchanges(*inner)) continue;
      if (const auto* repeat = std::get_if<bind::PlannedRepeat>(&step.action)) {
        std::int64_t count = 0;
        located(step, [&] { count = repeat->count.evaluate(slots_); });
        follow(*repeat, count, in_condition, all);
        continue;
      }
      follow(*inner, in_condition || std::holds_alternative<bind::PlannedCondition>(step.action),
             all);
    }
  }

  template <typename Work>
  void located(const bind::PlannedStep& step, const Work& work) const {
    try {
      work();
    } catch (Error& failure) {
      failure.at(step.source->where);
      const std::string values = bind::indexes_text(step, slots_);
      if (!values.empty()) failure.note("with " + values);
      throw;
    }
  }

  void follow(const bind::PlannedRepeat& repeat, std::int64_t count, bool in_condition,
              CollectiveTrace& all) {
    if (count <= 0) return;
    if (depends_on(repeat.steps, repeat.slot)) {
      for (std::int64_t i = 0; i < count && visits_ < kMostVisits; ++i) {
        slots_[repeat.slot] = i;
        follow(repeat.steps, in_condition, all);
      }
      slots_[repeat.slot] = 0;
      return;
    }
    CollectiveTrace once = empty();
    follow(repeat.steps, in_condition, once);
    const auto times = static_cast<std::uint64_t>(count);
    for (std::size_t i = 0; i < all.groups.size(); ++i) {
      all.groups[i].append(once.groups[i], times);
    }
    append(all.sent, once.sent, times);
    append(all.received, once.received, times);
    all.knows_messages = all.knows_messages && once.knows_messages;
  }

  void visit(const bind::PlannedStep& step, const bind::PlannedCollective& collective,
             bool in_condition, CollectiveTrace& all) {
    if (++visits_ >= kMostVisits) {
      for (ExchangeSequence& each : all.groups) each.forget();
      all.knows_messages = false;
      return;
    }
    const std::string where = step.source->where.to_string();
    bind::PlannedCollective::Values values;
    located(step, [&] { values = bind::evaluate(collective, slots_, values_.buffers); });
    const bind::CollectiveBytes bytes = bind::bytes_of(collective, values);
    if (bytes.read == 0 && bytes.written == 0) return;
    std::string content = bind::content_text(collective, values);
    if (!bind::is_message(collective.kind)) {
      all.groups[collective.group].add({where, fmt::format("{} ({})", step.label, content), 1});
      return;
    }
    // Whether the two sides come to it is known during the run.
    if (in_condition) all.knows_messages = false;
    const std::uint32_t peer = values.group.in_world(static_cast<std::uint32_t>(values.peer));
    auto& messages = collective.kind == CollectiveKind::kSend ? all.sent : all.received;
    messages[peer].add({where, std::move(content), 1});
  }

  const LoadedProgramState& state_;
  const ProgramValues& values_;
  std::vector<std::int64_t> slots_;
  std::uint64_t visits_ = 0;
};

}  // namespace

void ExchangeSequence::add(EqualExchanges run) {
  if (!is_known_) return;
  if (!runs_.empty() && runs_.back().where == run.where && runs_.back().content == run.content) {
    runs_.back().times += run.times;
    return;
  }
  if (runs_.size() == kMostRuns) return forget();
  runs_.push_back(std::move(run));
}

void ExchangeSequence::append(const ExchangeSequence& other, std::uint64_t times) {
  if (!other.is_known_) return forget();
  if (other.runs_.size() == 1) {
    return add({other.runs_[0].where, other.runs_[0].content, other.runs_[0].times * times});
  }
  for (std::uint64_t i = 0; i < times && is_known_ && !other.runs_.empty(); ++i) {
    for (const EqualExchanges& run : other.runs_) add(run);
  }
}

void ExchangeSequence::forget() {
  is_known_ = false;
  runs_.clear();
}

CollectiveTrace trace_collectives(const LoadedProgramState& state, const ProgramValues& values) {
  return Tracer(state, values).trace();
}

}  // namespace baton
