#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "baton/stream.h"

namespace baton::trace {

// A moment of one multiprocessor: the device's time stepped on to `time` (%globaltimer, in
// nanoseconds), and the clock was read right after it.
struct ClockEdge {
  std::uint64_t time = 0;
  std::uint64_t clock = 0;
};
using ClockEdges = std::map<std::uint32_t, std::vector<ClockEdge>>;  // by multiprocessor

// Has each multiprocessor watch the time step on. Waits for the stream's work. Throws the errors of
// loading and launching.
ClockEdges read_clock_edges(const Device& device, const Stream& stream);

// The device's time by the clocks of its multiprocessors, from edges before and after a run. The
// time alone has steps of up to a microsecond; the clocks count on between them.
class SmClocks {
 public:
  // `ghz`: the frequency where the edges do not tell it.
  SmClocks(const ClockEdges& before, const ClockEdges& after, double ghz);

  // In nanoseconds; nothing for a multiprocessor without edges.
  std::optional<double> time_of(std::uint32_t multiprocessor, std::uint64_t clock) const;
  // Ticks in a nanosecond.
  double frequency(std::uint32_t multiprocessor) const;
  // The smallest step of the time that was seen, in nanoseconds; 0 without edges.
  std::uint64_t step() const { return step_; }

 private:
  struct Line {
    ClockEdge anchor;
    double ghz = 1;
  };
  std::map<std::uint32_t, Line> lines_;
  double ghz_;
  std::uint64_t step_ = 0;
};

}  // namespace baton::trace
