#include "sim/queue/grid_scheduler.h"

#include <algorithm>
#include <numeric>

namespace baton::sim {
namespace {

// Warp instructions between two looks at what else is to be done.
constexpr std::uint64_t kSlice = std::uint64_t{1} << 20;
// Where grids take turns, so that each gets somewhere while the others are under way.
constexpr std::uint64_t kShortSlice = std::uint64_t{1} << 12;
// With kEarly a grid that others starve still gets every so many turns: they may poll for it.
constexpr std::uint64_t kMercy = 64;
// Turns of a device that runs ahead before another one gets one.
constexpr std::uint64_t kTurnsAhead = 8;

}  // namespace

// Vigna's SplitMix64 (2015, public domain).
std::uint64_t GridScheduler::draw() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::size_t GridScheduler::start(std::size_t count, bool any_runs) {
  switch (schedule_.kind) {
    case ScheduleKind::kReverse:
      return count - 1;
    case ScheduleKind::kRandom:
      return draw() % (any_runs ? 2 * count : count);
    default:
      return 0;
  }
}

std::vector<std::size_t> GridScheduler::turn(std::size_t count) {
  ++turns_;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  switch (schedule_.kind) {
    case ScheduleKind::kEarly:
      if (turns_ % kMercy != 0) std::reverse(order.begin(), order.end());
      break;
    case ScheduleKind::kReverse:
      std::reverse(order.begin(), order.end());
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(turns_ % count),
                  order.end());
      break;
    case ScheduleKind::kRandom:
      for (std::size_t k = count; k > 1; --k) std::swap(order[k - 1], order[draw() % k]);
      break;
    default:
      break;
  }
  return order;
}

std::uint64_t GridScheduler::slice() {
  switch (schedule_.kind) {
    case ScheduleKind::kReverse:
      return kShortSlice;
    case ScheduleKind::kRandom:
      return std::uint64_t{1} << (6 + draw() % 12);
    default:
      return kSlice;
  }
}

std::size_t GridScheduler::next_device(std::size_t count, std::size_t own) {
  const std::size_t next = own + 1 < count ? own + 1 : 0;
  const bool in_turn = ++device_turns_ % kTurnsAhead == 0;
  switch (schedule_.kind) {
    case ScheduleKind::kLate:
      return in_turn ? next : 0;
    case ScheduleKind::kEarly:
      return in_turn ? next : count - 1;
    case ScheduleKind::kReverse:
      return own == 0 ? count - 1 : own - 1;
    case ScheduleKind::kRandom:
      return draw() % count;
    default:
      return next;
  }
}

}  // namespace baton::sim
