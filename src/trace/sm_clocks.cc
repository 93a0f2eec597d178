#include "trace/sm_clocks.h"

#include <algorithm>
#include <limits>

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
  .reg .b64 %out, %old, %time, %clock, %place;
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
  mov.u64 %clock, %clock64;
  setp.eq.u64 %same, %time, %old;
  @%same bra edge;
  add.u64 %out, %out, 16;
  st.global.v2.u64 [%out], {%time, %clock};
  mov.u64 %old, %time;
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra edge;
  ret;
}
)";

// The edge that was read soonest after the step: whatever is late is late by ticks.
const ClockEdge& soonest(const std::vector<ClockEdge>& edges, double ghz) {
  const auto lateness = [&](const ClockEdge& edge) {
    return static_cast<double>(edge.clock - edges[0].clock) -
           ghz * static_cast<double>(edge.time - edges[0].time);
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

SmClocks::SmClocks(const ClockEdges& before, const ClockEdges& after, double ghz)
    : ghz_(ghz > 0 ? ghz : 1) {
  std::uint64_t step = std::numeric_limits<std::uint64_t>::max();
  for (const ClockEdges* all : {&before, &after}) {
    for (const auto& [sm, edges] : *all) {
      for (std::size_t k = 1; k < edges.size(); ++k) {
        if (edges[k].time > edges[k - 1].time) {
          step = std::min(step, edges[k].time - edges[k - 1].time);
        }
      }
    }
  }
  if (step != std::numeric_limits<std::uint64_t>::max()) step_ = step;
  for (const auto& [sm, edges] : before) {
    Line& line = lines_[sm];
    line.ghz = ghz_;
    const auto later = after.find(sm);
    const bool has_later = later != after.end() && later->second[0].time > edges[0].time &&
                           later->second[0].clock > edges[0].clock;
    if (has_later) {
      line.ghz = static_cast<double>(later->second[0].clock - edges[0].clock) /
                 static_cast<double>(later->second[0].time - edges[0].time);
    }
    line.anchor = soonest(edges, line.ghz);
    if (!has_later) continue;
    const ClockEdge& end = soonest(later->second, line.ghz);
    line.ghz = static_cast<double>(end.clock - line.anchor.clock) /
               static_cast<double>(end.time - line.anchor.time);
  }
}

std::optional<double> SmClocks::time_of(std::uint32_t multiprocessor, std::uint64_t clock) const {
  const auto line = lines_.find(multiprocessor);
  if (line == lines_.end()) return std::nullopt;
  // A clock before the anchor's is a negative distance.
  const auto ticks =
      static_cast<double>(static_cast<std::int64_t>(clock - line->second.anchor.clock));
  return static_cast<double>(line->second.anchor.time) + ticks / line->second.ghz;
}

double SmClocks::frequency(std::uint32_t multiprocessor) const {
  const auto line = lines_.find(multiprocessor);
  return line == lines_.end() ? ghz_ : line->second.ghz;
}

}  // namespace baton::trace
