#include "sim/engine/judge/peer_clock.h"

#include <algorithm>
#include <utility>

namespace baton::sim {
namespace {

using Grid = PeerClock::Grid;

// Grids of which it is looked whether others come after them.
constexpr std::size_t kManyGrids = 8;

// The clocks of a knowledge, in turn.
constexpr PeerClock PeerKnowledge::Parts::*kClocks[] = {&PeerKnowledge::Parts::known,
                                                        &PeerKnowledge::Parts::narrow,
                                                        &PeerKnowledge::Parts::seen,
                                                        &PeerKnowledge::Parts::seen_on_device,
                                                        &PeerKnowledge::Parts::seen_narrow,
                                                        &PeerKnowledge::Parts::released,
                                                        &PeerKnowledge::Parts::released_on_device};

// Drops what comes before another one of them, which is known by that.
void drop_earlier(std::vector<Grid>& grids) {
  const Ordering& ordering = Ordering::instance();
  for (std::size_t later = grids.size(); later-- > 0;) {
    const Ordering::Number number = grids[later].number;
    const auto end = grids.begin() + static_cast<std::ptrdiff_t>(later);
    const auto kept = std::remove_if(grids.begin(), end, [&](const Grid& earlier) {
      return ordering.relation(number, earlier.number) == Ordering::Relation::kBefore;
    });
    later = static_cast<std::size_t>(kept - grids.begin());
    grids.erase(kept, end);
  }
}

}  // namespace

PeerClock::PeerClock(Grid grid)
    : grids_(std::make_shared<const std::vector<Grid>>(1, std::move(grid))) {}

void PeerClock::merge(const PeerClock& other) {
  if (other.grids_ == nullptr || other.grids_ == grids_) return;
  if (grids_ == nullptr) {
    grids_ = other.grids_;
    return;
  }
  auto merged = std::make_shared<std::vector<Grid>>(*grids_);
  for (const Grid& grid : *other.grids_) {
    const auto place = std::lower_bound(
        merged->begin(), merged->end(), grid.number,
        [](const Grid& each, Ordering::Number number) { return each.number < number; });
    if (place == merged->end() || place->number != grid.number) {
      merged->insert(place, grid);
      continue;
    }
    place->has_waited = place->has_waited || grid.has_waited;
    place->over.merge(grid.over);
  }
  if (merged->size() > kManyGrids) drop_earlier(*merged);
  grids_ = std::move(merged);
}

void PeerClock::drop_before(Ordering::Number operation) {
  const auto is_before = [&](const Grid& grid) {
    return Ordering::instance().relation(operation, grid.number) == Ordering::Relation::kBefore;
  };
  if (std::ranges::none_of(grids(), is_before)) return;
  auto kept = std::make_shared<std::vector<Grid>>(*grids_);
  std::erase_if(*kept, is_before);
  grids_ = kept->empty() ? nullptr : std::move(kept);
}

bool PeerClock::covers(const PeerClock& other) const {
  if (other.grids_ == nullptr || other.grids_ == grids_) return true;
  return std::ranges::all_of(*other.grids_, [&](const Grid& grid) {
    const auto own = grids();
    const auto found = std::ranges::find(own, grid.number, &Grid::number);
    return found != own.end() && (found->has_waited || !grid.has_waited) &&
           found->over.covers(grid.over);
  });
}

bool PeerKnowledge::covers(const PeerKnowledge& other) const {
  return other.parts_ == parts_ || std::ranges::all_of(kClocks, [&](auto clock) {
           return (parts().*clock).covers(other.parts().*clock);
         });
}

void PeerKnowledge::merge_parts(const Parts& other) {
  change([&](Parts& parts) {
    for (const auto clock : kClocks) (parts.*clock).merge(other.*clock);
  });
}

}  // namespace baton::sim
