// Lanes of one warp that exchange through shared memory: within a segment only the warp's barrier
// (bar.warp.sync) orders one lane after another one (PTX ISA 9.0, 8.9 "Causality order"). Shuffles
// and votes order no memory.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kMostPlaces = 64;  // of a segment that are looked at

using Access = SharedWatch::Access;

// One lane's access of a place, by its position in the log.
struct Touch {
  std::size_t at = 0;
  std::uint32_t execution = 0;  // of an instruction: what lanes do at once is not a race
  std::uint32_t lanes = 0;
};

}  // namespace

std::uint32_t SharedWatch::lanes_of(const Access& access, std::uint32_t k) {
  if (access.stride == 0) return access.lanes;
  const std::uint32_t first = access.first_lane + k * access.lanes_apart;
  if (access.lanes_apart > 1) return ((1u << access.lanes_apart) - 1) << first;
  const std::uint32_t lane = 1u << first;
  // A pattern of 16 places has two lanes at each, half a warp apart.
  return access.shape != 0 && access.places == kLanes / 2 ? lane | lane << (kLanes / 2) : lane;
}

std::uint32_t SharedWatch::lanes_at(const Access& access, std::uint32_t from, std::uint32_t count) {
  // Most accesses of a log are elsewhere.
  const std::uint32_t end = access.offset + access.places * access.stride + access.bytes;
  if (access.offset >= from + count || end <= from) return 0;
  std::uint32_t lanes = 0;
  for (std::uint32_t k = 0; k < access.places; ++k) {
    const std::uint32_t at = access.offset + k * access.stride;
    if (at < from + count && from < at + access.bytes) lanes |= lanes_of(access, k);
  }
  return lanes;
}

// The lanes that come after access `from` of a lane in a log, before access `to`.
std::uint32_t SharedWatch::lanes_behind(std::span<const Access> log, int lane, std::size_t from,
                                        std::size_t to) {
  std::uint32_t lanes = 1u << lane;
  for (std::size_t k = from; k < to; ++k) {
    if (log[k].bytes == 0 && (log[k].lanes & lanes) != 0) lanes |= log[k].lanes;
  }
  return lanes;
}

// Where lanes of the warp touched the same places: a lane that is not known to come after another
// one's access is in a race with it.
void SharedWatch::Memory::compare_lanes(Exec* x, const Segment& segment) const {
  const Footprint& touched = *segment.touched;
  if (!touched.writes || !touched.is_whole || touched.empty()) return;
  const std::vector<Access>& log = touched.log;
  // How many places are written, if none is written twice.
  std::uint64_t written = 0, stored = 0;
  for (const Access& access : log) {
    if (access.bytes == 0 || reads_only(access.touch)) continue;
    stored += std::uint64_t{access.places} * std::max(access.bytes >> shift_, 1u);
  }
  for (std::uint32_t word = touched.low; word < touched.high; ++word) {
    std::uint64_t bits = touched.write[word];
    if (touched.has_strong) bits |= touched.strong_write[word];
    written += static_cast<std::uint64_t>(std::popcount(bits));
  }
  const bool is_rewritten = stored != written;
  std::vector<std::uint32_t> executions(log.size());
  for (std::size_t k = 1; k < log.size(); ++k) {
    const bool goes_on = log[k].insn == log[k - 1].insn && log[k].bytes != 0 &&
                         log[k].first_lane > log[k - 1].first_lane;
    executions[k] = executions[k - 1] + (goes_on ? 0 : 1);
  }
  std::uint32_t looked_at = 0;
  std::vector<Touch> touches;
  for (std::uint32_t word = touched.low; word < touched.high; ++word) {
    std::uint64_t writes = touched.write[word], reads = touched.read[word];
    if (touched.has_strong) {
      writes |= touched.strong_write[word];
      reads |= touched.strong_read[word];
    }
    std::uint64_t bits = is_rewritten ? writes : writes & reads;
    for (; bits != 0 && looked_at < kMostPlaces; bits &= bits - 1, ++looked_at) {
      const std::uint32_t at = (word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)))
                               << shift_;
      touches.clear();
      for (std::size_t k = 0; k < log.size(); ++k) {
        const std::uint32_t lanes = lanes_at(log[k], at, 1u << shift_);
        if (lanes == 0) continue;
        for (const Touch& before : touches) {
          if (before.execution == executions[k] ||
              !watch_.can_conflict(log[before.at], log[k], true))
            continue;
          const int lane = std::countr_zero(before.lanes);
          // One of several lanes comes after itself only.
          std::uint32_t others = lanes & ~lanes_behind(log, lane, before.at, k);
          if (std::uint32_t more = before.lanes & (before.lanes - 1); others == 0 && more != 0) {
            others = lanes & ~lanes_behind(log, std::countr_zero(more), before.at, k);
          }
          // Who wrote the one value, too, comes after a write of it.
          if (log[before.at].one_value) others &= ~before.lanes;
          if (others == 0) continue;
          const bool is_later = reads_only(log[k].touch) || !reads_only(log[before.at].touch);
          const Party earlier{segment, log[before.at], lane};
          const Party later{segment, log[k], std::countr_zero(others)};
          return report(x, is_later ? later : earlier, is_later ? earlier : later, at,
                        Lack::kWarpBarrier);
        }
        touches.push_back({k, executions[k], lanes});
      }
    }
  }
}

}  // namespace baton::sim
