#include "exec/pass.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace baton::exec {

void Pass::visit(PlannedStep& step) {
  context_.watch.check();
  Place place;
  place.step = &step;
  place.row = context_.report.next(step, [this] { return indexes(); });
  // Most steps are launches, and many follow one another as fast as they can.
  if (auto* launch = std::get_if<PlannedLaunch>(&step.action)) return enqueue(place, *launch);
  std::visit([&](auto& action) { enqueue(place, action); }, step.action);
}

void Pass::enqueue(Place& place, PlannedLaunch& step) {
  place.before = before_ == Before::kLaunch ? last_ : nullptr;
  place.programmatic = place.before != nullptr && context_.early[step.number];
  const bool report = context_.report.first_run();
  LaunchValues values = evaluate(step, slots(), context_.buffers);
  before_ = values.skipped ? Before::kSkippedLaunch : Before::kLaunch;
  if (values.skipped) {
    if (report) context_.report.skipped(place.row);
    return nothing(place);
  }
  last_ = place.step;
  values.config.stream = context_.stream;
  const Spreading& spreading = context_.spreading[step.number];
  values.config.shared = std::max(values.config.shared, spreading.shared);
  if (spreading.carveout) {
    values.config.attributes.set(preferred_shared_memory_carveout(*spreading.carveout));
  }
  if (place.programmatic) values.config.attributes.set(pdl());
  pack(step, values.config, slots(), context_.buffers);
  launch(place, step);
  if (report) context_.report.launched(place.row, values.config, bytes_passed(step));
}

void Pass::enqueue(Place& place, PlannedCopy& step) {
  before_ = Before::kCopyOrFill;
  const CopyValues values = evaluate(step, slots(), context_.buffers);
  if (context_.report.first_run()) context_.report.moved(place.row, 2 * values.bytes);
  if (values.bytes == 0) return nothing(place);
  copy(place, step, values);
}

void Pass::enqueue(Place& place, PlannedFill& step) {
  before_ = Before::kCopyOrFill;
  const std::uint64_t bits = evaluate(step, slots(), context_.buffers);
  const BoundBuffer& buffer = context_.buffers[step.buffer];
  if (context_.report.first_run()) context_.report.moved(place.row, buffer.bytes);
  if (buffer.bytes == 0) return nothing(place);
  fill(place, step, bits);
}

// Each buffer's bytes once, however often they are passed.
std::uint64_t Pass::bytes_passed(const PlannedLaunch& launch) const {
  std::vector<std::uint64_t> of_buffer(launch.buffers.size());
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> seen;
  for (const PlannedArgument& arg : launch.args) {
    if (!arg.buffer()) continue;
    const auto [first, last] = arg.span(slots(), index_slot(), context_.buffers);
    if (!seen.emplace(*arg.buffer(), first, last).second) continue;
    const auto found = std::find(launch.buffers.begin(), launch.buffers.end(), *arg.buffer());
    std::uint64_t& sum = of_buffer[static_cast<std::size_t>(found - launch.buffers.begin())];
    sum = std::min(sum + last - first, context_.buffers[*arg.buffer()].bytes);
  }
  return std::accumulate(of_buffer.begin(), of_buffer.end(), std::uint64_t{0});
}

}  // namespace baton::exec
