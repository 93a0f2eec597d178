#include "play/lanes.h"

namespace baton::play {

Lanes::Lanes(const Device& device, std::uint32_t count, std::uint32_t events,
             std::span<const SmPart> parts)
    : parts_(count) {
  for (std::uint32_t event = 0; event < events; ++event) recorded_.emplace_back(device, false);
  for (const SmPart& part : parts) {
    part_streams_.emplace_back(part);
    part_ends_.emplace_back(part_streams_.back(), false);
  }
  const bool is_ordered = count > 1 || !parts.empty();
  for (std::uint32_t lane = 0; lane < count && is_ordered; ++lane) {
    events_.emplace_back(device, false);
    if (lane != 0) streams_.emplace_back(device);
  }
}

void Lanes::change_part(std::uint32_t lane, std::optional<std::uint32_t> part, const Stream& own) {
  Event& end = parts_[lane] ? part_ends_[*parts_[lane]] : events_[lane];
  end.record(stream(lane, own));
  parts_[lane] = part;
  stream(lane, own).wait(end);
}

void Lanes::fork(const bind::TapeParallel& parallel, const Stream& own) {
  const std::uint32_t from = lane_around(parallel);
  leave_part(from, own);
  events_[from].record(stream(from, own));
  for (const bind::TapeStep& branch : std::span(parallel.steps).subspan(1)) {
    stream(lane_of(branch), own).wait(events_[from]);
  }
}

// Launches with events have no part.
void Lanes::wait(const bind::TapeAfter& after, const Stream& own) {
  leave_part(after.launch->lane, own);
  for (const bind::PlannedEvent& event : after.launch->after) {
    stream(after.launch->lane, own).wait(recorded_[event.number]);
  }
}

void Lanes::record(const bind::TapeRecorded& recorded, const Stream& own) {
  if (recorded.sent) return;
  leave_part(recorded.launch.lane, own);
  for (const bind::PlannedEvent& event : recorded.launch.events) {
    recorded_[event.number].record(stream(recorded.launch.lane, own));
  }
}

void Lanes::join(const bind::TapeParallel& parallel, const Stream& own) {
  leave_part(lane_around(parallel), own);
  const Stream& to = stream(lane_around(parallel), own);
  for (const bind::TapeStep& branch : std::span(parallel.steps).subspan(1)) {
    leave_part(lane_of(branch), own);
    Event& end = events_[lane_of(branch)];
    end.record(stream(lane_of(branch), own));
    to.wait(end);
  }
}

}  // namespace baton::play
