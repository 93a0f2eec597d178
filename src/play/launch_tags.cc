#include "play/launch_tags.h"

#include <atomic>
#include <set>
#include <utility>
#include <variant>

#include "base/error.h"
#include "bind/accessible.h"
#include "bind/binder.h"
#include "driver/driver.h"

namespace baton::play {
namespace {

// Tags of one program.
constexpr std::uint64_t kTags = std::uint64_t{1} << 32;
static_assert(bind::kMaxRunSteps <= kTags);

std::uint64_t take_tags() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed) * kTags;
}

// Ends a walk.
struct AllStepsSeen {};

// Calls `use` with each of the tape's launches that is wanted, and with the text of its indexes.
template <typename Use>
void for_launches(bind::Tape& tape, const LaunchTags& tags, std::span<const std::uint64_t> wanted,
                  Use use) {
  std::set<std::uint64_t> open;
  for (const std::uint64_t tag : wanted) {
    if (const auto step = tags.step(tag)) open.insert(*step);
  }
  if (open.empty()) return;
  bind::TapeWalk walk(tape);
  try {
    walk.run([&](const bind::RunStep& at, const auto&) {
      if (at.number != *open.begin()) return;
      use(at, walk.indexes());
      open.erase(open.begin());
      if (open.empty()) throw AllStepsSeen();
    });
  } catch (const AllStepsSeen&) {
    // The rest of the run has no step that is wanted.
  }
}

}  // namespace

std::string launch_text(const bind::PlannedStep& step, const std::string& indexes) {
  const auto& launch = std::get<bind::PlannedLaunch>(step.action);
  return fmt::format("launch {} ({}){}{}, at {}", launch.number, step.label,
                     indexes.empty() ? "" : ", ", indexes, step.source->where.to_string());
}

LaunchTags::LaunchTags() : first_(take_tags()) {}

std::optional<std::uint64_t> LaunchTags::step(std::uint64_t tag) const {
  if (tag < first_ || tag - first_ >= kTags) return std::nullopt;
  return tag - first_;
}

driver::LaunchNote note_of(const bind::TapeLaunch& launch, std::uint64_t step,
                           std::span<const std::int64_t> slots, const bind::BufferTable& buffers,
                           const LaunchTags& tags) {
  return {tags.tag(step), bind::accessible_ranges(*launch.site->launch, slots, buffers)};
}

std::map<std::uint64_t, std::string> launch_texts(bind::Tape& tape, const LaunchTags& tags,
                                                  std::span<const std::uint64_t> wanted) {
  std::map<std::uint64_t, std::string> texts;
  for_launches(tape, tags, wanted, [&](const bind::RunStep& at, const std::string& indexes) {
    texts.emplace(tags.tag(at.number), launch_text(*at.step, indexes));
  });
  return texts;
}

std::map<std::uint64_t, driver::TracedLaunch> traced_launches(
    bind::Tape& tape, const LaunchTags& tags, std::span<const std::uint64_t> wanted) {
  std::map<std::uint64_t, driver::TracedLaunch> names;
  for_launches(tape, tags, wanted, [&](const bind::RunStep& at, const std::string& indexes) {
    names.emplace(tags.tag(at.number), driver::TracedLaunch{at.step->label, at.number, indexes,
                                                            at.step->source->where.to_string()});
  });
  return names;
}

void name_launch(Error& failure, const Device& device, bind::Tape& tape, const LaunchTags& tags) {
  driver::Simulator* const simulator = device.driver().simulator;
  if (simulator == nullptr || failure.driver_result() == 0) return;
  const auto fault = simulator->fault(device.native_context());
  if (!fault || !fault->tag) return;
  const auto texts = launch_texts(tape, tags, {&*fault->tag, 1});
  if (texts.empty()) return;
  Error named(failure.code(), texts.begin()->second + ": " + driver::describe(*fault),
              SourceLocation{.file = fault->where});
  named.of_driver(failure.driver_result());
  failure = std::move(named);
}

}  // namespace baton::play
