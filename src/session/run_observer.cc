#include "session/run_observer.h"

#include <utility>
#include <variant>

#include "base/array.h"
#include "base/error.h"
#include "play/moves.h"

namespace baton {

std::string CompletedStep::indexes_text() const {
  std::string text;
  for (const auto& [name, value] : indexes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

RunObserver::RunObserver(const RunOptions& options, const ProgramMemory& memory,
                         const Stream& stream, RunReport& report)
    : options_(options), memory_(memory), stream_(stream), report_(report) {
  if (!options.find_non_finite) return;
  search_.emplace(memory.table(),
                  [this](std::size_t buffer) { return memory_.contents_of(buffer, stream_); });
  for (std::string& warning : search_->begin()) report_.warnings.push_back(std::move(warning));
}

bool RunObserver::step_done(const bind::RunStep& at, bool sent,
                            std::span<const std::int64_t> slots) {
  CompletedStep step;
  step.number = number_++;
  step.kind = play::report_kind(*at.step);
  step.label = at.step->label;
  step.indexes = bind::indexes_of(*at.step, slots);
  step.where = at.step->source->where;
  if (const auto* launch = std::get_if<bind::PlannedLaunch>(&at.step->action)) {
    step.launch = launch->number;
  }
  step.skipped = !sent;
  step.contents = [this](std::string_view buffer) {
    return memory_.contents_of(memory_.number_of(buffer), stream_);
  };
  ended_ = options_.after_step && !options_.after_step(step);
  if (search_ && sent) search(*at.step, step);
  return !ended_;
}

void RunObserver::search(const bind::PlannedStep& planned, const CompletedStep& step) {
  auto found = search_->look(planned);
  if (!found) return;
  const std::string indexes = step.indexes_text();
  found->launch =
      step.launch ? fmt::format("launch {} ({})", *step.launch, step.label) : step.label;
  if (!indexes.empty()) found->launch += ", " + indexes;
  found->where = step.where;
  report_.non_finite = std::move(*found);
  ended_ = true;
}

void RunObserver::finish() const {
  if (!report_.non_finite) return;
  const NonFiniteReport& found = *report_.non_finite;
  throw error_at(found.where, ErrorCode::kMismatch,
                 "{} makes {} of finite values: {}{} is the first of {} such element{}",
                 found.launch, found.value == "nan" ? "a NaN" : "an infinity", found.buffer,
                 shape_text(found.index), found.count, found.count == 1 ? "" : "s");
}

}  // namespace baton
