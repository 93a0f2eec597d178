#include "session/run/run_observer.h"

#include <cmath>
#include <utility>
#include <variant>

#include "base/array/array.h"
#include "base/error.h"
#include "base/text/text.h"
#include "play/moves.h"

namespace baton {
namespace {

// The number that an argument is, where the program writes one out.
std::optional<double> number_of(const LaunchArgument& argument) {
  if (const auto* number = std::get_if<double>(&argument.value)) return *number;
  const auto* typed = std::get_if<TypedValue>(&argument.value);
  const auto* number = typed == nullptr ? nullptr : std::get_if<double>(&typed->value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// ", whose argument 2 (alpha) is nan,"; empty where no argument is such a number.
std::string non_finite_argument(const ProgramStep& step, const bind::ParamNaming* naming) {
  const auto* launch = std::get_if<LaunchStep>(&step.action);
  if (launch == nullptr) return "";
  for (std::size_t i = 0; i < launch->args.size(); ++i) {
    const std::optional<double> number = number_of(launch->args[i]);
    if (!number || std::isfinite(*number)) continue;
    const std::string name = bind::ValuePlace{launch->kernel, i, naming}.parameter_name();
    return fmt::format(", whose argument {}{} is {},", i,
                       name.empty() ? "" : fmt::format(" ({})", printable(name)), *number);
  }
  return "";
}

}  // namespace

std::string CompletedStep::indexes_text() const {
  std::string text;
  for (const auto& [name, value] : indexes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

RunObserver::RunObserver(const RunOptions& options, const ProgramMemory& memory,
                         const bind::ParamNaming* naming, const Stream& stream, RunReport& report)
    : options_(options), memory_(memory), naming_(naming), stream_(stream), report_(report) {
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
  argument_ = non_finite_argument(*planned.source, naming_);
  found->where = step.where;
  report_.non_finite = std::move(*found);
  ended_ = true;
}

void RunObserver::finish() const {
  if (!report_.non_finite) return;
  const NonFiniteReport& found = *report_.non_finite;
  throw error_at(found.where, ErrorCode::kMismatch, "{}{} makes {}{}: {}{} is {}", found.launch,
                 argument_, found.value == "nan" ? "a NaN" : "an infinity",
                 argument_.empty() ? " of finite values" : "", found.buffer,
                 shape_text(found.index),
                 found.count == 1 ? "the only such element"
                                  : fmt::format("the first of {} such elements", found.count));
}

}  // namespace baton
