#include "play/lanes.h"

namespace baton::play {

Lanes::Lanes(const Device& device, std::uint32_t count, std::uint32_t events) {
  for (std::uint32_t event = 0; event < events; ++event) recorded_.emplace_back(device, false);
  for (std::uint32_t lane = 0; lane < count && count > 1; ++lane) {
    events_.emplace_back(device, false);
    if (lane != 0) streams_.emplace_back(device);
  }
}

void Lanes::fork(const bind::TapeParallel& parallel, const Stream& own) {
  const std::uint32_t from = lane_around(parallel);
  events_[from].record(stream(from, own));
  for (const bind::TapeStep& branch : std::span(parallel.steps).subspan(1)) {
    stream(lane_of(branch), own).wait(events_[from]);
  }
}

void Lanes::wait(const bind::TapeAfter& after, const Stream& own) {
  for (const bind::PlannedEvent& event : after.launch->after) {
    stream(after.launch->lane, own).wait(recorded_[event.number]);
  }
}

void Lanes::record(const bind::TapeRecorded& recorded, const Stream& own) {
  if (recorded.sent) return;
  for (const bind::PlannedEvent& event : recorded.launch.events) {
    recorded_[event.number].record(stream(recorded.launch.lane, own));
  }
}

void Lanes::join(const bind::TapeParallel& parallel, const Stream& own) {
  const Stream& to = stream(lane_around(parallel), own);
  for (const bind::TapeStep& branch : std::span(parallel.steps).subspan(1)) {
    Event& end = events_[lane_of(branch)];
    end.record(stream(lane_of(branch), own));
    to.wait(end);
  }
}

}  // namespace baton::play
