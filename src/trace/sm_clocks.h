#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "baton/device.h"
#include "baton/stream.h"
#include "trace/block_record.h"

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

// Times of clocks. The device's time has steps of up to a microsecond, and the clocks count on between
// them. Their frequencies change during a run, and multiprocessors have different ones.
//
// Points are moments of a multiprocessor whose time and clock are known: the edges before and after a
// run, and the begin of each block, whose time is uncertain by a step. The clock runs evenly between
// two points. Where one line from the edges before to the edges after has all the points of a
// multiprocessor within a step and 50 ns, it is that line. Otherwise the points in between, each at
// least 1000 steps after the one before, bend it. Where a clock was set back, the line begins anew.
class SmClocks {
 public:
  // `ghz`: the frequency where a multiprocessor has one point alone.
  SmClocks(const ClockEdges& before, const ClockEdges& after, std::span<const BlockRecord> records,
           double ghz);

  // When the record's multiprocessor had this clock during the block, in nanoseconds from `origin`.
  // The record must be one of those that the clocks are made of.
  double time_of(const BlockRecord& record, std::uint64_t clock) const;
  // The earliest of the points' times (%globaltimer).
  std::uint64_t origin() const { return origin_; }
  // The smallest step of the device's time that was seen, in nanoseconds; 0 without edges.
  std::uint64_t step() const { return step_; }
  // By how much the lines leave the step that the device's time had at the begin of a block, at most,
  // in nanoseconds.
  double disagreement() const { return disagreement_; }

 private:
  struct Point {
    double time = 0;  // from `origin_`
    std::uint64_t clock = 0;
    bool is_start = false;  // no line leads here from the point before
    double ghz = 1;         // of the line from here
  };
  using Points = std::vector<Point>;  // by time

  // The line's frequency, if a clock can have run from one to the other.
  static std::optional<double> frequency(const Point& from, const Point& to);
  static double time_on(const Point& from, std::uint64_t clock);
  Point point_of(const ClockEdge& edge) const;
  Points joined(const Points& all, double apart) const;
  double most_outside(const Points& line, const Points& all) const;

  std::map<std::uint32_t, Points> points_;
  double ghz_;
  std::uint64_t origin_ = 0;
  std::uint64_t step_ = 0;
  double disagreement_ = 0;
};

}  // namespace baton::trace
