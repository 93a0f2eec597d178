#include "trace/sm_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "baton/buffer.h"
#include "baton/image.h"
#include "baton/launch_plan.h"
#include "baton/module.h"

namespace baton::trace {
namespace {

constexpr std::uint32_t kEdges = 16;

// One thread. Writes its multiprocessor and 1, and then kEdges times the time right after it
// stepped on, and the clock.
constexpr const char* kEdgesKernel = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry baton_clock_edges(
  .param .u64 p_out,
  .param .u32 p_edges
)
{
  .reg .b64 %out, %old, %time, %ticks, %place;
  .reg .b32 %left, %edges, %sm, %block;
  .reg .pred %same, %more;

  ld.param.u64 %out, [p_out];
  ld.param.u32 %edges, [p_edges];
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %left, %edges, 16, 16;
  mul.lo.u32 %left, %left, %block;
  cvt.u64.u32 %place, %left;
  add.u64 %out, %out, %place;
  mov.u32 %sm, %smid;
  add.u32 %sm, %sm, 1;
  cvt.u64.u32 %place, %sm;
  st.global.u64 [%out], %place;
  mov.u32 %left, %edges;
  mov.u64 %old, %globaltimer;
edge:
  mov.u64 %time, %globaltimer;
  mov.u64 %ticks, %clock64;
  setp.eq.u64 %same, %time, %old;
  @%same bra edge;
  add.u64 %out, %out, 16;
  st.global.v2.u64 [%out], {%time, %ticks};
  mov.u64 %old, %time;
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra edge;
  ret;
}
)";

// A straight line may leave the steps of the time by what a read takes.
constexpr double kStraight = 50;
// Steps between two points of a bent line: a step then is a thousandth of their distance.
constexpr double kApart = 1000;
// Frequencies that a multiprocessor can have, in GHz.
constexpr double kLeastFrequency = 0.02, kMostFrequency = 10;

// The edge that was read soonest after the step: whatever is late is late by ticks.
const ClockEdge& soonest(const std::vector<ClockEdge>& edges) {
  const ClockEdge &first = edges.front(), &last = edges.back();
  const double ghz = last.time > first.time ? static_cast<double>(last.clock - first.clock) /
                                                  static_cast<double>(last.time - first.time)
                                            : 1;
  const auto lateness = [&](const ClockEdge& edge) {
    return static_cast<double>(static_cast<std::int64_t>(edge.clock - first.clock)) -
           ghz * static_cast<double>(static_cast<std::int64_t>(edge.time - first.time));
  };
  return *std::ranges::min_element(edges, {}, lateness);
}

}  // namespace

ClockEdges read_clock_edges(const Device& device, const Stream& stream) {
  const Module module =
      Module::load(device, Image::from_static(kEdgesKernel, "<the clocks of a trace>"));
  const std::uint32_t blocks = device.limits().multiprocessors;
  constexpr std::size_t kWords = 2 * (kEdges + 1);
  const Buffer<std::uint64_t> out(device, blocks * kWords);
  out.memory().fill(0, 8, blocks * kWords, 0, stream);
  // With all shared memory for itself, a block shares its multiprocessor with none.
  LaunchConfig config{.grid = blocks, .block = 1, .stream = stream};
  config.shared = device.limits().shared_per_block_optin;
  module.kernel("baton_clock_edges").launch(config, out, kEdges);
  std::vector<std::uint64_t> words(blocks * kWords);
  out.download(Span<std::uint64_t>(words.data(), words.size()), stream);
  stream.synchronize();
  ClockEdges edges;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint64_t* const own = words.data() + block * kWords;
    if (own[0] == 0) continue;
    std::vector<ClockEdge>& of_sm = edges[static_cast<std::uint32_t>(own[0] - 1)];
    for (std::uint32_t k = 1; k <= kEdges; ++k) of_sm.push_back({own[2 * k], own[2 * k + 1]});
  }
  return edges;
}

SmClocks::SmClocks(const ClockEdges& before, const ClockEdges& after,
                   std::span<const BlockRecord> records, double ghz)
    : ghz_(ghz > 0 ? ghz : 1) {
  constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t step = kNone, first = kNone;
  for (const ClockEdges* all : {&before, &after}) {
    for (const auto& [sm, edges] : *all) {
      for (std::size_t k = 0; k < edges.size(); ++k) {
        first = std::min(first, edges[k].time);
        if (k == 0 || edges[k].time <= edges[k - 1].time) continue;
        step = std::min(step, edges[k].time - edges[k - 1].time);
      }
    }
  }
  if (step != kNone) step_ = step;
  for (const BlockRecord& record : records) {
    if (record.began()) first = std::min(first, record.entry_time);
  }
  origin_ = first;

  std::map<std::uint32_t, Points> all;
  for (const auto& [sm, edges] : before) all[sm].push_back(point_of(soonest(edges)));
  for (const BlockRecord& record : records) {
    if (!record.began()) continue;
    Point point = point_of({record.entry_time, record.entry_clock});
    point.time += static_cast<double>(step_) / 2;
    all[record.multiprocessor()].push_back(point);
  }
  for (const auto& [sm, edges] : after) all[sm].push_back(point_of(soonest(edges)));
  for (auto& [sm, points] : all) {
    std::ranges::stable_sort(points, {}, &Point::time);
    Points line = joined(points, std::numeric_limits<double>::infinity());
    double outside = most_outside(line, points);
    if (outside > kStraight) {
      line = joined(points, kApart * static_cast<double>(step_));
      outside = most_outside(line, points);
    }
    disagreement_ = std::max(disagreement_, outside);
    points_.emplace(sm, std::move(line));
  }
}

SmClocks::Point SmClocks::point_of(const ClockEdge& edge) const {
  return {static_cast<double>(edge.time - origin_), edge.clock, false, ghz_};
}

std::optional<double> SmClocks::frequency(const Point& from, const Point& to) {
  if (to.time <= from.time) return std::nullopt;
  const auto ticks = static_cast<double>(static_cast<std::int64_t>(to.clock - from.clock));
  const double ghz = ticks / (to.time - from.time);
  if (ghz < kLeastFrequency || ghz > kMostFrequency) return std::nullopt;
  return ghz;
}

double SmClocks::time_on(const Point& from, std::uint64_t clock) {
  // A clock before the point's is a negative distance.
  return from.time +
         static_cast<double>(static_cast<std::int64_t>(clock - from.clock)) / from.ghz;
}

// The first and the last point, and those in between that are far enough apart, or that no line
// reaches.
SmClocks::Points SmClocks::joined(const Points& all, double apart) const {
  Points out = {all.front()};
  out.back().is_start = true;
  for (std::size_t k = 1; k < all.size(); ++k) {
    Point point = all[k];
    const bool is_last = k + 1 == all.size();
    const double distance = point.time - out.back().time;
    // Over a step or less the time says nothing about the frequency.
    if (!is_last && distance <= static_cast<double>(step_)) continue;
    const std::optional<double> ghz = frequency(out.back(), point);
    if (!ghz) {
      if (distance <= static_cast<double>(step_)) continue;
      point.is_start = true;
      point.ghz = out.back().ghz;
    } else if (distance < apart && !is_last) {
      continue;
    } else {
      out.back().ghz = *ghz;
      point.ghz = *ghz;
    }
    out.push_back(point);
  }
  // A point before a clock was set back is the only one of its line.
  for (std::size_t k = out.size() - 1; k-- > 0;) {
    if (out[k].is_start && out[k + 1].is_start) out[k].ghz = out[k + 1].ghz;
  }
  return out;
}

// All points are begins of blocks but the first and the last: those are exact.
double SmClocks::most_outside(const Points& line, const Points& all) const {
  double most = 0;
  const double half = static_cast<double>(step_) / 2;
  std::size_t at = 0;
  for (const Point& point : all) {
    while (at + 1 < line.size() && line[at + 1].time <= point.time) ++at;
    most = std::max(most, std::abs(time_on(line[at], point.clock) - point.time) - half);
  }
  return most;
}

double SmClocks::time_of(const BlockRecord& record, std::uint64_t clock) const {
  const Points& points = points_.at(record.multiprocessor());
  const double begin =
      static_cast<double>(record.entry_time - origin_) + static_cast<double>(step_) / 2;
  auto at = std::ranges::upper_bound(points, begin, {}, &Point::time);
  if (at != points.begin()) --at;
  // The block may go on beyond the next points.
  for (auto next = std::next(at); next != points.end() && !next->is_start; at = next++) {
    if (static_cast<std::int64_t>(clock - next->clock) < 0) break;
  }
  return time_on(*at, clock);
}

}  // namespace baton::trace
