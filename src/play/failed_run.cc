#include "play/failed_run.h"

#include "base/error.h"
#include "play/run_log.h"

namespace baton::play {
namespace {

// Edges that are named one by one.
constexpr std::size_t kMostNamed = 8;

std::uint32_t launch_number(const bind::PlannedStep& step) {
  return std::get<bind::PlannedLaunch>(step.action).number;
}

// "3", or the label of a collective that a kernel executes.
std::string end_text(const bind::PlannedStep& step) {
  if (!std::holds_alternative<bind::PlannedLaunch>(step.action)) return step.label;
  return std::to_string(launch_number(step));
}

std::string edge_text(const bind::RunStep& at) {
  if (at.before == nullptr) return "to " + at.step->label;
  return fmt::format("{} -> {}", end_text(*at.before), end_text(*at.step));
}

// "matvec (launch 3, layer = 2), at decode.toml:40:1".
std::string step_text(const bind::RunStep& at, const RunLog& report) {
  std::string what;
  if (std::holds_alternative<bind::PlannedLaunch>(at.step->action)) {
    what = fmt::format("launch {}", launch_number(*at.step));
  }
  if (const std::string indexes = report.indexes(at.row); !indexes.empty()) {
    what += (what.empty() ? "" : ", ") + indexes;
  }
  return fmt::format("{}{}, at {}", at.step->label,
                     what.empty() ? std::string() : " (" + what + ")",
                     at.step->source->where.to_string());
}

}  // namespace

void note_standing(Error& failure, std::span<const bind::RunStep> open, const RunLog& report) {
  if (open.empty()) return;
  const bind::RunStep& first = open.front();
  std::string text = "the first step not known to have completed: " + step_text(first, report);
  if (first.before != nullptr) {
    text += fmt::format(", behind the {} edge {}", first.programmatic ? "programmatic" : "full",
                        edge_text(first));
  }
  failure.note(std::move(text));
  std::size_t count = 0;
  std::string edges;
  for (const bind::RunStep& at : open.subspan(1)) {
    if (!at.programmatic) break;
    if (++count <= kMostNamed) edges += (count == 1 ? "" : ", ") + edge_text(at);
  }
  if (count == 0) return;
  if (count > kMostNamed) edges += fmt::format(" and {} more", count - kMostNamed);
  failure.note(
      fmt::format("behind it, launches that may have started early, over the programmatic "
                  "edge{} {}; BATON_PDL=off makes every edge full, pdl = \"off\" one",
                  count == 1 ? "" : "s", edges));
}

Error blame(const Error& failure, const bind::RunStep& first, bool alone) {
  const auto* launch = std::get_if<bind::PlannedLaunch>(&first.step->action);
  const std::string what =
      launch != nullptr ? "kernel " + launch->kernel.name() : "\"" + first.step->label + "\"";
  Error named = error_at(first.step->source->where, failure.code(), "{}{} failed: {}", what,
                         alone ? "" : ", or a step after it,", failure.message());
  for (const std::string& note : failure.notes()) named.note(note);
  named.of_driver(failure.driver_result());
  return named;
}

}  // namespace baton::play
