#include "sim/engine/judge/grid_races.h"

#include <algorithm>
#include <bit>

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/discard.h"

namespace baton::sim {
namespace {

constexpr std::size_t kMostReaders = 15;  // of a part, besides the last one
constexpr std::uint32_t kMostWarps = 1024;
constexpr std::uint32_t kWidestLane = 32;

// Whether the two access the same place, but not the same bytes: then they are not morally strong.
// An update of a word may stand for one of a part of it.
bool differ_in_size(const GridToucher& a, const GridToucher& b) {
  constexpr std::uint32_t kWord = 2;
  const std::uint32_t wider = std::max(a.shift(), b.shift());
  return a.shift() != b.shift() && wider < GridToucher::kManyLanes &&
         (wider > kWord || (!a.updates() && !b.updates()));
}

GridToucher::Strength strength_of(AccessKind touch, MemoryScope scope) {
  if (!is_strong(touch)) return GridToucher::Strength::kWeak;
  switch (scope) {
    case MemoryScope::kBlock:
      return GridToucher::Strength::kBlock;
    case MemoryScope::kCluster:
      return GridToucher::Strength::kCluster;
    case MemoryScope::kDevice:
    case MemoryScope::kSystem:
      break;
  }
  return GridToucher::Strength::kDevice;
}

// Whether both are strong, each for the other's thread, and of the same bytes.
bool are_in_harmony(const GridToucher& a, const GridToucher& b, std::uint32_t warps_of_block) {
  using Strength = GridToucher::Strength;
  if (differ_in_size(a, b)) return false;
  const Strength least = std::min(a.strength(), b.strength());
  if (least == Strength::kWeak || least == Strength::kDevice) return least == Strength::kDevice;
  if (a.cluster() != b.cluster()) return false;
  return least == Strength::kCluster || a.warp() / warps_of_block == b.warp() / warps_of_block;
}

std::uint64_t key_of(const GridToucher& toucher) {
  return std::uint64_t{toucher.cluster()} << 10 | toucher.warp();
}

}  // namespace

const std::vector<ApartLanes>& GridRaces::Run::apart() const {
  return access.x->block->watch->apart_of(warp);
}

bool GridRaces::warp_comes_after(const Run& run, const GridToucher& other, std::uint32_t segment) {
  const Knowledge& knowledge = run.knowledge;
  if (other.cluster() == run.me.cluster()) {
    // Copies that one party asks for, one after the other, are taken for ordered.
    const bool is_copy = run.me.warp() != run.warp;
    const bool is_same_party = other.warp() == run.me.warp();
    if (is_same_party && (is_copy || !run.has_apart || segment == run.me.segment())) return true;
    return at(knowledge.over, other.warp()) > segment || at(run.waited, other.warp()) > segment;
  }
  const Times* over = knowledge.others.over.of(other.cluster());
  return over != nullptr && at(*over, other.warp()) > segment;
}

// The lanes of the other's warp that are known to be done with that segment, to one of these.
// `times_of` gives what a warp knows of a cluster.
template <class TimesOf>
std::uint32_t GridRaces::lanes_done(const Run& run, std::uint32_t lanes, const GridToucher& other,
                                    std::uint32_t segment, TimesOf times_of) const {
  static const LaneParties kNone;
  const auto found = lane_parties_.find(other.cluster());
  const LaneParties& parties = found == lane_parties_.end() ? kNone : found->second;
  const auto done = [&](const Knowledge& knowledge) -> std::uint32_t {
    const Times* const times = times_of(knowledge);
    return times == nullptr ? 0 : parties.done(*times, other.warp(), segment);
  };
  std::uint32_t known = done(run.knowledge);
  for (const ApartLanes& some : run.apart()) {
    if ((some.lanes & lanes) != 0) known |= done(some.knows);
  }
  return known;
}

std::uint32_t GridRaces::lanes_done(const Run& run, std::uint32_t lanes, const GridToucher& other,
                                    std::uint32_t segment) const {
  return lanes_done(run, lanes, other, segment, [&](const Knowledge& knowledge) {
    const bool is_near = other.cluster() == run.me.cluster();
    return is_near ? &knowledge.over : knowledge.others.over.of(other.cluster());
  });
}

// The first of the part's bytes whose lane does not come after the one that accessed it, or how
// many they are. What one lane tells of what it read is taken for what its warp read, as in
// SharedWatch::Memory::meeting_of.
std::uint32_t GridRaces::first_unordered(const Run& run, const GridToucher& other,
                                         std::uint32_t segment, Past past, const Part& part) const {
  const bool is_own = other.cluster() == run.me.cluster() && other.warp() == run.warp;
  const GridToucher me = run.me.at(static_cast<std::uint32_t>(part.start - run.address));
  const bool is_copy = me.shift() == GridToucher::kManyLanes;
  const auto width_of = [&](const GridToucher& toucher) {
    return toucher.shift() < GridToucher::kManyLanes ? 1u << toucher.shift() : part.bytes;
  };
  const std::uint32_t step = std::min({width_of(me), width_of(other), part.bytes});
  for (std::uint32_t byte = 0; byte < part.bytes; byte += step) {
    const std::uint32_t mine =
        is_copy ? run.access.x->mask : std::uint32_t{1} << (me.lane_at(byte) & 31);
    const std::uint32_t theirs = std::uint32_t{1} << (other.lane_at(byte) & 31);
    if (is_own && mine == theirs) continue;
    const std::uint32_t done = lanes_done(run, mine, other, segment);
    const bool is_unclear = past == Past::kRead || other.shift() == GridToucher::kManyLanes;
    if (is_unclear ? done == 0 && !(is_own && past == Past::kWrite) : (done & theirs) == 0) {
      return byte;
    }
  }
  return part.bytes;
}

void GridRaces::touch(const Access& access, int lane, std::uint32_t lanes, std::uint64_t offset) {
  Exec* x = access.x;
  const SharedWatch& watch = *x->block->watch;
  const std::uint32_t warp = watch.warp_of(x);
  const std::uint64_t cluster = x->block->cluster->number;
  if (warp >= kMostWarps || cluster > UINT32_MAX) return;
  if (access.copy != nullptr && access.copy->party >= kMostWarps) {
    Access unfollowed = access;
    unfollowed.copy = nullptr;
    unfollowed.is_kept = !reads_only(access.touch);
    return touch(unfollowed, lane, lanes, offset);
  }
  const std::uint32_t party = access.copy == nullptr ? warp : access.copy->party;
  if (access.copy != nullptr) askers_[std::uint64_t{cluster} << 10 | party] = warp;
  std::uint32_t shift = GridToucher::kOneLane;
  if (access.copy != nullptr && access.is_async) {
    shift = GridToucher::kManyLanes;
  } else if (std::has_single_bit(access.bytes) && access.bytes <= kWidestLane) {
    shift = static_cast<std::uint32_t>(std::countr_zero(access.bytes));
  }
  const std::uint64_t address = access.region->base + offset;
  const Run run{access,
                watch.knowledge_of(warp),
                GridToucher(static_cast<std::uint32_t>(cluster), party,
                            access.copy == nullptr ? watch.segment_of(warp) : access.copy->index,
                            access.insn, lane, shift, strength_of(access.touch, access.scope),
                            access.touch == AccessKind::kUpdate),
                address,
                address + std::uint64_t{lanes} * access.bytes,
                lane,
                warp,
                !reads_only(access.touch),
                access.copy != nullptr || watch.has_apart(warp) || watch.has_parts(warp),
                watch.waited_by(warp)};
  constexpr std::uint64_t kInSector = GridCells::kSector - 1;
  for (std::uint64_t start = address & ~kInSector; start < run.end; start += GridCells::kSector) {
    GridCell& cell = cells_.sector(start);
    const bool is_whole = start >= address && start + GridCells::kSector <= run.end;
    if (is_whole && !cell.is_split()) {
      look(run, cell, start, GridCells::kSector);
      continue;
    }
    touch_parts(run, cell, start, GridCells::kSector);
    // What a whole write leaves is one again. Strong ones, of single lanes, are not as wide.
    if (is_whole && run.writes && access.is_kept && !is_strong(access.touch)) {
      cell = {};
      cell.write = run.me.at(static_cast<std::uint32_t>(start - address));
    }
  }
}

// The quarters of a part.
void GridRaces::touch_parts(const Run& run, GridCell& cell, std::uint64_t start,
                            std::uint32_t bytes) {
  GridCell* const parts = GridCells::split(cell, bytes);
  const std::uint32_t each = bytes / 4;
  const std::uint64_t from = std::max(start, run.address);
  const std::uint64_t end = std::min(start + bytes, run.end);
  for (std::uint64_t at = from - from % each; at < end; at += each) {
    GridCell& part = parts[(at - start) / each];
    const bool is_whole = at >= run.address && at + each <= run.end;
    if (is_whole && !part.is_split()) {
      look(run, part, at, each);
    } else {
      touch_parts(run, part, at, each);
    }
  }
}

void GridRaces::look(const Run& run, GridCell& cell, std::uint64_t start, std::uint32_t bytes) {
  const GridToucher me = run.me.at(static_cast<std::uint32_t>(start - run.address));
  const bool may_miss_lanes = run.has_apart || me.is_of_other_lane(cell.write, bytes) ||
                              (run.writes && me.is_of_other_lane(cell.read, bytes));
  if (run.access.is_noncoherent && cell.write.is_any()) {
    return report(run, me, cell.write, true, start, Cause::kNonCoherent);
  }
  const bool is_plain = run.access.is_kept && !run.access.is_async && !may_miss_lanes;
  const Part part{start, bytes};
  if (!run.writes && cell.write.is_any() && is_discard(cell.write.insn()) &&
      !races(run, me, cell.write, Past::kWrite, part)) {
    report(run, me, cell.write, true, start, Cause::kDiscarded);
  }
  if (!run.writes && is_plain && me.is_repeated_by(cell.read)) return;
  if (me.strength() == GridToucher::Strength::kWeak && is_plain && cell.is_all_of(me)) {
    return run.writes ? cell.set_write(me.beside(cell.write))
                      : static_cast<void>(cell.read = me.beside(cell.read));
  }
  if (cell.write.is_any() && races(run, me, cell.write, Past::kWrite, part) &&
      !has_observed(run, cell, part)) {
    const bool stores = run.writes && !run.me.updates() && !cell.write.updates() &&
                        !run.access.x->grid->launch.keeps_to_model;
    const std::uint64_t at = stores ? first_difference(run, start, bytes) : start;
    if (at == start + bytes) {
      if (cell.more == nullptr) cell.more = std::make_unique<GridCell::More>();
      cell.more->equal_writers[key_of(me)] = me;
      return;
    }
    compare(run, cell.write, Past::kWrite, part, at);
  }
  if (run.access.is_async) look_at_fences(run, cell, part);
  const GridCell::More* const more = cell.more.get();
  if (more != nullptr && more->weaker_write.is_any()) {
    compare(run, more->weaker_write, Past::kWrite, part, start);
  }
  if (!run.writes) {
    if (run.access.is_kept) add_reader(run, cell, me, part);
    return;
  }
  if (run.me.updates()) note_update(cell, me, bytes);
  if (cell.read.is_any()) compare(run, cell.read, Past::kRead, part, start);
  if (more != nullptr) {
    for (const GridToucher& reader : more->readers) {
      compare(run, reader, Past::kRead, part, start);
    }
    for (const auto& [who, observer] : more->observers) {
      compare(run, observer.latest, Past::kRead, part, start);
    }
    for (const auto& [who, writer] : more->equal_writers) {
      compare(run, writer, Past::kWrite, part, start);
    }
  }
  if (run.access.is_kept) cell.set_write(me.beside(cell.write));
}

bool GridRaces::races(const Run& run, const GridToucher& me, const GridToucher& other, Past past,
                      const Part& part) const {
  return (me.is_of_other_lane(other, part.bytes) || !comes_after(run, other, past, part)) &&
         !are_in_harmony(me, other, run.access.x->block->watch->warps_of_block());
}

// Whether a copy of the async proxy reads what a thread wrote, and no proxy fence made visible to
// it. To overwrite what a thread accessed takes such a fence by the memory model alone.
bool GridRaces::lacks_proxy_fence(const Run& run, const GridToucher& other, Past past,
                                  const Part& part) const {
  const Exec* const x = run.access.x;
  const SharedWatch& watch = *x->block->watch;
  if ((run.writes && !x->grid->launch.keeps_to_model) || !other.is_any() ||
      watch.is_copy(other.warp()) || !comes_after(run, other, past, part)) {
    return false;
  }
  const auto fenced = [&](const Knowledge& knowledge) {
    const bool is_near = other.cluster() == run.me.cluster();
    return is_near ? &knowledge.fenced : knowledge.others.fenced.of(other.cluster());
  };
  return lanes_done(run, x->mask, other, other.segment(), fenced) == 0;
}

// Whoever touched the part last knows of those that are not kept, and so did a proxy fence that
// comes after it.
void GridRaces::look_at_fences(const Run& run, const GridCell& cell, const Part& part) {
  const GridToucher me = run.me.at(static_cast<std::uint32_t>(part.start - run.address));
  const auto look_at = [&](const GridToucher& other, Past past) {
    if (!lacks_proxy_fence(run, other, past, part)) return;
    report(run, me, other, past == Past::kWrite, part.start, Cause::kProxyFence);
  };
  look_at(cell.write, Past::kWrite);
  if (run.writes) look_at(cell.read, Past::kRead);
  if (cell.more == nullptr) return;
  look_at(cell.more->weaker_write, Past::kWrite);
  for (const auto& [who, writer] : cell.more->equal_writers) look_at(writer, Past::kWrite);
  if (!run.writes) return;
  for (const GridToucher& reader : cell.more->readers) look_at(reader, Past::kRead);
  for (const auto& [who, observer] : cell.more->observers) look_at(observer.latest, Past::kRead);
}

// Whether the present access comes after a strong read of the last write, or, if it reads, after
// another write of the same value.
bool GridRaces::has_observed(const Run& run, const GridCell& cell, const Part& part) const {
  if (cell.more == nullptr) return false;
  if (!run.writes) {
    const auto& equal = cell.more->equal_writers;
    if (std::any_of(equal.begin(), equal.end(), [&](const auto& each) {
          return comes_after(run, each.second, Past::kWrite, part);
        })) {
      return true;
    }
  }
  if (cell.write.strength() == GridToucher::Strength::kWeak) return false;
  return std::any_of(
      cell.more->observers.begin(), cell.more->observers.end(), [&](const auto& each) {
        return comes_after(run, each.second.latest, each.second.first_segment, Past::kWrite, part);
      });
}

// The first of the bytes that the store changes, or the end of them.
std::uint64_t GridRaces::first_difference(const Run& run, std::uint64_t start,
                                          std::uint32_t bytes) {
  const Access& access = run.access;
  if (access.values.first[0] == nullptr) return start;
  for (std::uint64_t at = start; at < start + bytes; ++at) {
    const auto behind = static_cast<std::uint32_t>(at - run.address);
    const std::uint32_t within = behind % access.bytes;
    const std::byte* value =
        access.values.first[within / access.values.each] +
        (static_cast<std::uint32_t>(run.lane) + behind / access.bytes) * access.values.apart +
        within % access.values.each;
    if (*value != access.region->host[at - access.region->base]) return at;
  }
  return start + bytes;
}

// `part` is what both touched, `at` the byte to name.
void GridRaces::compare(const Run& run, const GridToucher& other, Past past, const Part& part,
                        std::uint64_t at) {
  const std::uint64_t start = part.start;
  const GridToucher me = run.me.at(static_cast<std::uint32_t>(start - run.address));
  if (!races(run, me, other, past, part)) return;
  const bool is_told =
      !other.is_same_warp(me) && lanes_done(run, kAllLanes, other, other.segment()) != 0;
  if (is_told) at = std::max(at, start + first_unordered(run, other, other.segment(), past, part));
  report(run, run.me.at(static_cast<std::uint32_t>(at - run.address)),
         other.at(static_cast<std::uint32_t>(at - start)), past == Past::kWrite, at,
         is_told ? Cause::kLaneOrder : Cause::kRace);
}

void GridRaces::note_update(const GridCell& cell, const GridToucher& me, std::uint32_t bytes) {
  const auto note = [&](const GridToucher& reader) {
    if (reader.is_any() && reader.is_same_warp(me) && !me.is_of_other_lane(reader, bytes)) {
      updated_later_.insert(reader.insn());
    }
  };
  note(cell.read);
  if (cell.more == nullptr) return;
  for (const GridToucher& reader : cell.more->readers) note(reader);
}

void GridRaces::add_reader(const Run& run, GridCell& cell, const GridToucher& me,
                           const Part& part) const {
  if (me.strength() != GridToucher::Strength::kWeak) {
    if (cell.more == nullptr) cell.more = std::make_unique<GridCell::More>();
    const auto [found, is_new] = cell.more->observers.try_emplace(key_of(me));
    found->second.latest = me;
    if (is_new) found->second.first_segment = me.segment();
    return;
  }
  // Who knows that a copy is over need not know what came before it, but for copies of cp.async
  // that the same warp asked for: it waits for them in their order.
  const auto may_replace = [&](const GridToucher& reader) {
    if (run.access.is_async) return false;
    if (run.access.copy != nullptr) return reader.is_same_warp(me);
    return comes_after(run, reader, Past::kRead, part);
  };
  if (!cell.read.is_any() || may_replace(cell.read)) {
    cell.read = me;
    return;
  }
  if (cell.more == nullptr) cell.more = std::make_unique<GridCell::More>();
  for (GridToucher& reader : cell.more->readers) {
    if (!may_replace(reader)) continue;
    reader = me;
    return;
  }
  if (cell.more->readers.size() < kMostReaders) cell.more->readers.push_back(me);
}

}  // namespace baton::sim
