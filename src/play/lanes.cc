#include "play/lanes.h"

namespace baton::play {

Lanes::Lanes(const Device& device, std::uint32_t count) {
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

void Lanes::join(const bind::TapeParallel& parallel, const Stream& own) {
  const Stream& to = stream(lane_around(parallel), own);
  for (const bind::TapeStep& branch : std::span(parallel.steps).subspan(1)) {
    Event& end = events_[lane_of(branch)];
    end.record(stream(lane_of(branch), own));
    to.wait(end);
  }
}

}  // namespace baton::play
