// Lanes of a warp that did not meet at its barrier. What each of them did comes before what it does
// next, and not before what the others do.
//
// Some may be ordered with other warps apart from the rest of their warp: one lane that polls a
// flag, waits at an mbarrier or releases one. What they are told is theirs until the lanes of the
// warp meet at a barrier, and what they tell is what they did, and what the warp did before its
// lanes met the last time (PTX ISA 9.0, 8.9 "Causality order").

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/engine/async/mbarrier.h"
#include "sim/engine/judge/grid_races.h"
#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

constexpr std::size_t kMostApart = 16;  // of a warp; what more are told counts for all of it

// Whether lanes met during the segment.
bool has_barrier(std::span<const SharedAccess> log) {
  return std::ranges::any_of(log, [](const SharedAccess& access) { return access.bytes == 0; });
}

// The lanes of the executing warp that began.
std::uint32_t begun(const Exec* x) {
  const std::uint32_t behind = x->grid->threads - x->warp->index * kLanes;
  return behind >= kLanes ? kAllLanes : (std::uint32_t{1} << behind) - 1;
}

}  // namespace

SharedWatch::Who SharedWatch::who(const Exec* x) const {
  return {warp_of(x), x->mask, x->mask == begun(x)};
}

// At a barrier lanes that exited count as there.
SharedWatch::Who SharedWatch::who_meets(const Exec* x) const {
  return {warp_of(x), x->mask, x->mask == x->warp->live};
}

const Knowledge& SharedWatch::known_apart(const Who& who) {
  known_ = clocks_[who.warp];
  for (const ApartLanes& some : apart_[who.warp]) {
    if ((some.lanes & who.lanes) != 0) merge(known_, some.knows);
  }
  return known_;
}

const Knowledge& SharedWatch::known_to_each(const Who& who) {
  if (who.is_whole || apart_[who.warp].empty()) return clocks_[who.warp];
  known_ = clocks_[who.warp];
  for (const ApartLanes& some : apart_[who.warp]) {
    if ((who.lanes & ~some.lanes) == 0) merge(known_, some.knows);
  }
  return known_;
}

ApartLanes& SharedWatch::apart(const Who& who) {
  std::vector<ApartLanes>& all = apart_[who.warp];
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ApartLanes& some) { return some.lanes == who.lanes; });
  if (found != all.end()) return *found;
  if (all.size() >= kMostApart) {
    merge(clocks_[who.warp], all.front().knows);
    merge(fences_[who.warp], all.front().fences);
    all.erase(all.begin());
  }
  has_apart_[who.warp] = 1;
  all.emplace_back().lanes = who.lanes;
  return all.back();
}

Fences& SharedWatch::fences_of(const Who& who) {
  return who.is_whole ? fences_[who.warp] : apart(who).fences;
}

bool SharedWatch::has_fenced(const Who& who) const {
  bool has = false;
  each_fences(who, [&](const Fences& fences) {
    has = has || !fences.released.empty() || !fences.released_in_block.empty();
  });
  return has;
}

// The party that stands for these lanes.
std::uint32_t SharedWatch::party_of(const Exec* x, const Who& who) {
  if (who.is_whole) return who.warp;
  if (const LaneParty* found = lane_parties_.find(who.warp, who.lanes)) return found->party;
  if (lane_parties_.is_full(who.warp)) return who.warp;
  const LaneParty made{parties_++, who.warp, who.lanes};
  lane_parties_.add(made);
  if (GridRaces* races = x->grid->races.get()) races->add(x->block->cluster->number, made);
  return made.party;
}

// What each of the lanes did.
void SharedWatch::raise_own(Times& times, const Who& who) const {
  raise(times, who.warp, who.is_whole ? index_[who.warp] : 1);
  lane_parties_.each(who.warp, [&](const LaneParty& one) {
    if ((who.lanes & ~one.lanes) == 0) raise(times, one.party, index_[who.warp]);
  });
}

// Adds to the object what the lanes did, and what they know.
void SharedWatch::tell_apart(const Exec* x, Knowledge& object, const Who& who) {
  merge(object, known_to(who));
  merge(object.over, waited_[who.warp]);
  raise(object.over, party_of(x, who), index_[who.warp]);
  raise(object.over, who.warp, 1);  // that it has begun
}

// After a segment of these lanes: a warp that acts as a whole is one again, but for what some of it
// was told.
void SharedWatch::note_apart(const Who& who) {
  has_apart_[who.warp] = who.is_whole && apart_[who.warp].empty() ? 0 : 1;
}

std::unique_ptr<std::vector<ApartClock>> SharedWatch::apart_clocks(std::uint32_t warp) const {
  if (apart_[warp].empty()) return nullptr;
  auto clocks = std::make_unique<std::vector<ApartClock>>();
  for (const ApartLanes& some : apart_[warp]) clocks->push_back({some.lanes, some.knows});
  return clocks;
}

// Each lane of the warp knows the copies that any of them waited for.
void SharedWatch::share_waited(std::uint32_t warp) {
  if (waited_[warp].empty()) return;
  merge(clocks_[warp].over, waited_[warp]);
  waited_[warp].clear();
}

// The lanes of the warp met: each knows what any of them knows.
void SharedWatch::meet(std::uint32_t warp) {
  share_waited(warp);
  for (const ApartLanes& some : apart_[warp]) {
    merge(clocks_[warp], some.knows);
    merge(fences_[warp], some.fences);
  }
  apart_[warp].clear();
  has_apart_[warp] = 0;
  clocks_[warp].over[warp] = index_[warp];
}

// What one of the lanes was told counts for all of them.
void SharedWatch::share(Exec* x, const Who& who) {
  close(x, who);
  Knowledge all;
  Fences fences;
  for (const ApartLanes& some : apart_[who.warp]) {
    if ((some.lanes & who.lanes) == 0) continue;
    merge(all, some.knows);
    merge(fences, some.fences);
  }
  ApartLanes& now = apart(who);
  merge(now.knows, all);
  merge(now.fences, fences);
}

void SharedWatch::sync_lanes(Exec* x, const Insn* insn, std::uint32_t lanes) {
  const std::uint32_t warp = warp_of(x);
  const bool is_whole = (x->warp->live & ~lanes) == 0;
  if (!is_whole && std::has_single_bit(lanes)) return;  // a lane comes after itself anyway
  if (x->grid->races != nullptr || has_apart(warp) || has_parts(warp)) {
    const Who who{warp, lanes, is_whole};
    if (!is_whole) {
      share(x, who);
      return raise(apart(who).knows.over, party_of(x, who), index_[warp]);
    }
    close(x, who);
    return meet(warp);
  }
  Access barrier;  // of no bytes
  barrier.insn = insn;
  barrier.places = 0;
  barrier.lanes = lanes;
  for (Memory& memory : memories_) {
    Open& open = memory.open_[warp];
    if (open.touched_ != nullptr) open.note(barrier);
  }
}

// A shuffle or a vote orders no memory. What one lane was told by other warps, and hands on so,
// counts for all that take part all the same: decoupled look-back of CUB is such.
void SharedWatch::exchange(Exec* x, std::uint32_t lanes) {
  const std::uint32_t warp = warp_of(x);
  if (apart_[warp].empty()) return;
  if ((x->warp->live & ~lanes) != 0) return share(x, {warp, lanes, false});
  close(x, {warp, lanes, false});
  for (const ApartLanes& some : apart_[warp]) {
    merge(clocks_[warp], some.knows);
    merge(fences_[warp], some.fences);
  }
  apart_[warp].clear();
}

// What some lanes of each running warp know to be over, told by some lanes of its own. One lane
// that does all of the work of its warp must not keep everybody's segments until the others wake
// up, nor must lanes that never meet.
void SharedWatch::over_for_some(Times& over, Times& fenced) const {
  over.assign(parties_, UINT32_MAX);
  fenced.assign(parties_, UINT32_MAX);
  for (std::uint32_t warp = 0; warp < all_; ++warp) {
    if (!is_live(warp)) continue;
    Clock known = clocks_[warp];
    for (const ApartLanes& some : apart_[warp]) merge(known, some.knows);
    merge(known.over, waited_[warp]);
    for (Times* times : {&known.over, &known.fenced}) lane_parties_.raise_warps(*times);
    for (std::uint32_t p = 0; p < parties_; ++p) {
      if (p != warp) over[p] = std::min(over[p], at(known.over, p));
      fenced[p] = std::min(fenced[p], at(known.fenced, p));
    }
  }
}

std::span<const ApartClock> SharedWatch::apart_of(const Memory::Segment& segment) {
  return segment.apart == nullptr ? std::span<const ApartClock>() : *segment.apart;
}

// The lanes of the other segment's warp that are done with it for lane `lane`. All or none of a
// copy's.
std::uint32_t SharedWatch::lanes_before(const Memory::Segment& one, int lane,
                                        const Memory::Segment& other) const {
  std::uint32_t lanes = lane_parties_.done(one.start.over, other.party, other.index);
  for (const ApartClock& some : apart_of(one)) {
    if ((some.lanes >> lane & 1) == 0) continue;
    lanes |= lane_parties_.done(some.knows.over, other.party, other.index);
  }
  return lanes;
}

// Whether that is known without a look at accesses.
bool SharedWatch::Memory::is_ordered_by_lanes(const Segment& one, const Segment& other) const {
  std::uint32_t lanes = watch_.lane_parties_.done(one.start.over, other.party, other.index);
  for (const ApartClock& some : apart_of(one)) {
    if ((one.touched->lanes & ~some.lanes) != 0) continue;
    lanes |= watch_.lane_parties_.done(some.knows.over, other.party, other.index);
  }
  if (lanes != 0 && (!other.touched->writes || other.party >= watch_.all_)) return true;
  if (other.party >= watch_.all_) return false;
  // A lane comes after itself.
  const bool is_one_lane = std::has_single_bit(one.touched->lanes);
  if (one.party == other.party && one.party < watch_.all_ && is_one_lane) {
    lanes |= one.touched->lanes;
  }
  return (other.touched->lanes & ~lanes) == 0;
}

// Whether each of its lanes was told by some lane that is done with the other segment.
bool SharedWatch::Memory::is_told_to_all(const Segment& one, const Segment& other) const {
  const auto is_done = [&](const Times& over) {
    return watch_.lane_parties_.done(over, other.party, other.index) != 0;
  };
  if (is_done(one.start.over)) return true;
  std::uint32_t told = 0;
  for (const ApartClock& some : apart_of(one)) {
    if (is_done(some.knows.over)) told |= some.lanes;
  }
  return (one.touched->lanes & ~told) == 0;
}

// What lane `lane` of a warp tells others of what it read is taken for what its warp read: a value
// that was read is there.
SharedWatch::Memory::Meeting SharedWatch::Memory::meeting_of(const Segment& one, std::size_t mine,
                                                             const Segment& other,
                                                             std::size_t theirs,
                                                             std::uint32_t at) const {
  const auto lanes_of = [&](const Segment& segment, std::size_t index) {
    const Access& access = segment.touched->log[index];
    const std::uint32_t lanes = lanes_at(access, at, 1u << shift_);
    return lanes != 0 ? lanes : 1u << access.first_lane;
  };
  const std::uint32_t my_lanes = lanes_of(one, mine);
  const std::uint32_t their_lanes = lanes_of(other, theirs);
  Meeting meeting{Lack::kNothing, std::countr_zero(my_lanes), std::countr_zero(their_lanes)};
  const auto their_operation = mbarrier_operation(other.touched->log[theirs].insn);
  const bool is_made =
      their_operation == MbarrierOp::kInit && sim::at(one.start.made, other.party) > other.index;
  // One lane may tell for its warp that an mbarrier is used no more: libcu++ ends its pipelines so,
  // after a match.sync.
  const bool is_end =
      their_operation && mbarrier_operation(one.touched->log[mine].insn) == MbarrierOp::kInval;
  if (sim::at(one.start.over, other.party) <= other.index && !is_made) {
    // A copy comes after what its lane did before, and a lane that waited after its own copies.
    const bool is_waited = sim::at(one.waited, other.party) > other.index;
    const bool is_before =
        other.party < watch_.all_ && (one.party < watch_.all_ || other.index < one.asked);
    const bool is_one_warp = one.warp == other.warp && (is_waited || is_before);
    const Footprint& touched = *other.touched;
    const Access& access = touched.log[theirs];
    bool is_told = false;
    for (std::uint32_t left = my_lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::uint32_t before = watch_.lanes_before(one, lane, other);
      is_told = is_told || before != 0;
      if (before != 0 && (reads_only(access.touch) || !touched.is_whole)) continue;
      if (is_end && (before != 0 || is_one_warp)) continue;
      if (is_one_warp) {
        // In a log that is not whole, a barrier may be missing where there is one.
        if (!touched.is_whole && has_barrier(touched.log)) continue;
        before |= 1u << lane;
        // Who wrote the one value, too, comes after a write of it.
        if (access.one_value && (their_lanes >> lane & 1) != 0) before |= their_lanes;
      }
      for (std::uint32_t rest = their_lanes & ~before; rest != 0; rest &= rest - 1) {
        const int their_lane = std::countr_zero(rest);
        const std::uint32_t behind =
            before == 0 ? 0 : lanes_behind(touched.log, their_lane, theirs, touched.log.size());
        if ((behind & before) != 0) continue;
        const Lack lack = is_one_warp ? Lack::kWarpBarrier : Lack::kOrder;
        meeting = {lack, lane, their_lane};
        break;
      }
      if (meeting.lack != Lack::kNothing) break;
    }
    // Another lane would have been.
    for (std::uint32_t lane = 0; lane < kLanes && meeting.lack == Lack::kOrder && !is_told;
         ++lane) {
      is_told = watch_.lanes_before(one, static_cast<int>(lane), other) != 0;
    }
    if (meeting.lack == Lack::kOrder && is_told) meeting.lack = Lack::kLaneOrder;
  }
  if (meeting.lack == Lack::kNothing && lacks_fence(one, other)) {
    meeting.lack = Lack::kProxyFence;
  }
  return meeting;
}

// Whether no proxy fence orders what the other one did before a copy of the async proxy, which
// needs that.
bool SharedWatch::Memory::lacks_fence(const Segment& one, const Segment& other) const {
  return one.needs_fence && other.party < watch_.all_ &&
         watch_.lane_parties_.done(one.start.fenced, other.party, other.index) == 0;
}

}  // namespace baton::sim
