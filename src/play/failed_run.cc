#include "play/failed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "driver/driver.h"
#include "play/run_log.h"

namespace baton::play {
namespace {

// Edges that are named one by one.
constexpr std::size_t kMostNamed = 8;
constexpr const char* kAskRun = "a run with this limit names the step that is not done";

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

// "a; b and 3 more".
std::string list_text(const std::vector<std::string>& parts) {
  const std::size_t named = std::min(parts.size(), kMostNamed);
  std::string text = fmt::format("{}", fmt::join(parts.begin(), parts.begin() + named, "; "));
  if (parts.size() > named) text += fmt::format(" and {} more", parts.size() - named);
  return text;
}

// The launches of the tape that ran when the device was stopped, by their tags.
void note_running(Error& failure, bind::Tape& tape, const LaunchTags& tags,
                  std::span<const std::uint64_t> running) {
  const std::map<std::uint64_t, std::string> texts = launch_texts(tape, tags, running);
  std::vector<std::string> own;
  for (const std::uint64_t tag : running) {
    const auto text = texts.find(tag);
    if (text == texts.end()) continue;
    // A launch in a loop of the graph may run again before its grid of the last turn is gone.
    if (std::ranges::find(own, text->second) == own.end()) own.push_back(text->second);
  }
  if (own.empty() && !running.empty()) {
    failure.note("no launch of the program ran: other work of the device did");
  } else if (own.empty() && failure.code() == ErrorCode::kTimeout) {
    failure.note(kAskRun);  // nothing ran that has a tag: the test of a condition, a copy
  }
  if (own.empty()) return;
  failure.note("the first step that did not end: " + own.front());
  own.erase(own.begin());
  if (!own.empty()) failure.note("behind it ran " + list_text(own));
}

// The launches of the tape that may never end, because their kernels wait for values in memory.
void note_polling(Error& failure, bind::Tape& tape) {
  std::vector<std::string> polling;
  std::set<const bind::PlannedStep*> seen;
  bind::TapeWalk(tape).run([&](const bind::RunStep& at, const auto&) {
    const auto* launch = std::get_if<bind::PlannedLaunch>(&at.step->action);
    if (launch == nullptr || !seen.insert(at.step).second) return;
    if (launch->kernel.facts().polls.value_or(false)) {
      polling.push_back(launch_text(*at.step, {}));
    }
  });
  if (polling.empty()) return;
  failure.note("launches whose kernels wait for values in memory, and may never end: " +
               list_text(polling));
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

void stop_enqueued(Error& failure, const RunWatch& watch, const Device& device, bind::Tape& tape,
                   const LaunchTags& tags) {
  watch.stop(failure, [&](std::span<const std::uint64_t> running) {
    note_running(failure, tape, tags, running);
  });
  if (failure.code() != ErrorCode::kTimeout || device.driver().simulator != nullptr) return;
  note_polling(failure, tape);
  failure.note(kAskRun);
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
