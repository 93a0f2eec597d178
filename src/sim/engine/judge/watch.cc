#include "sim/engine/judge/watch.h"

#include <array>
#include <bit>

#include "sim/engine/judge/grid_races.h"
#include "sim/engine/judge/hazards.h"
#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

// Pattern::footprint where the places do not lie evenly.
constexpr std::uint64_t kIrregular = UINT64_MAX << 1;

// Whether the grid's accesses are compared with those of others.
bool concerns(const Exec* x, const Region& region, AccessKind touch) {
  const Shadow& shadow = *static_cast<const Shadow*>(region.shadow);
  return (shadow.notes && x->grid->relations != nullptr) || shadow.has_frozen ||
         (shadow.is_read_only && touch != AccessKind::kRead);
}

// The widest access of a lane that lies in a row: two vectors of four words.
constexpr std::uint32_t kWidest = 32;
// By log2 of the bytes of a lane: the distances of a row's lanes from the first one.
template <class Offset>
constexpr auto kRows = [] {
  std::array<std::array<Offset, kLanes>, std::bit_width(kWidest)> rows{};
  for (std::size_t width = 0; width < rows.size(); ++width) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) rows[width][lane] = lane << width;
  }
  return rows;
}();

// Calls `use` with the first of lanes that lie side by side, their number and the first one's
// place.
template <class Offset, class Use>
void each_side_by_side(const Offset* offsets, std::uint32_t mask, std::uint64_t base,
                       std::uint32_t bytes, Use use) {
  // Nearly always a row.
  if (mask == kAllLanes && std::has_single_bit(bytes) && bytes <= kWidest) {
    const auto& row = kRows<Offset>[std::countr_zero(bytes)];
    Offset apart = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      apart |= (offsets[lane] - offsets[0]) ^ row[lane];
    }
    if (apart == 0) return use(0, std::uint32_t{kLanes}, base + offsets[0]);
  }
  for (int lane = 0; lane < kLanes;) {
    if ((mask >> lane & 1) == 0) {
      ++lane;
      continue;
    }
    const std::uint64_t start = base + offsets[lane];
    std::uint32_t count = 1;
    while (lane + static_cast<int>(count) < kLanes && (mask >> lane >> count & 1) != 0 &&
           base + offsets[lane + static_cast<int>(count)] == start + std::uint64_t{count} * bytes) {
      ++count;
    }
    use(lane, count, start);
    lane += static_cast<int>(count);
  }
}

// When it was, for flags that order grids of several devices (peer_order.h).
void note_time(const Exec* x, const Region& region, std::uint64_t offset, std::uint64_t bytes,
               AccessKind touch, const CopyParty* copy = nullptr) {
  if (!x->grid->orders_peers) return;
  const SharedWatch& watch = *x->block->watch;
  const std::uint32_t warp = watch.warp_of(x);
  static_cast<Shadow*>(region.shadow)
      ->accesses.add(
          region.within + offset, bytes,
          {x->grid->launch.number, x->block->cluster->number, copy == nullptr ? warp : copy->party,
           copy == nullptr ? watch.segment_of(warp) : copy->index, !reads_only(touch)});
}

// Of what the quick ways to memory execute.
bool loads_noncoherently(const Insn* i, AccessKind touch) {
  return touch == AccessKind::kRead && is_noncoherent(i->mode);
}

// Apart from the rest, which is all that most runs need.
template <class Offset>
[[gnu::noinline, gnu::cold]] void watch_inside(Exec* x, const Insn* i, const Region& region,
                                               const Offset* offsets, std::uint32_t mask,
                                               std::uint64_t base, std::uint32_t bytes,
                                               AccessKind touch, const StoredValues& values) {
  const GridRaces::Access access{.x = x,
                                 .insn = i,
                                 .region = &region,
                                 .bytes = bytes,
                                 .touch = touch,
                                 .values = values,
                                 .is_noncoherent = loads_noncoherently(i, touch)};
  each_side_by_side(offsets, mask, base, bytes,
                    [&](int lane, std::uint32_t lanes, std::uint64_t offset) {
                      x->grid->races->touch(access, lane, lanes, offset);
                    });
}

template <class Offset>
void watch_global(Exec* x, const Insn* i, const Region& region, const Offset* offsets,
                  std::uint32_t mask, std::uint64_t base, std::uint32_t bytes, AccessKind touch,
                  const StoredValues& values) {
  if (x->grid->races != nullptr) [[unlikely]] {
    watch_inside(x, i, region, offsets, mask, base, bytes, touch, values);
  }
  if (!concerns(x, region, touch)) return;
  GlobalWatch watch(x, i, region, bytes, touch, false, MemoryScope::kSystem,
                    loads_noncoherently(i, touch));
  each_side_by_side(offsets, mask, base, bytes,
                    [&](int lane, std::uint32_t lanes, std::uint64_t offset) {
                      note_time(x, region, offset, std::uint64_t{lanes} * bytes, touch);
                      watch.touch_run(lane, lanes, region.within + offset);
                    });
}

void note_shared(const Region& region, const SharedWatch::Access& access,
                 const StoredValues& values) {
  SharedWatch::Open& open = *static_cast<SharedWatch::Open*>(region.shadow);
  if (values.first[0] == nullptr) {
    open.note(access);
  } else {
    open.note(access, values, region.host + access.offset);
  }
}

// The value that all of the lanes store, if it is one.
void set_value(const StoredValues& values, std::uint32_t lanes, SharedWatch::Access* access) {
  if (values.first[0] == nullptr || access->bytes > sizeof(access->value)) return;
  const auto value_of = [&](int lane) {
    SharedWatch::Value value{};
    SharedWatch::copy_stored(values, lane, access->bytes,
                             reinterpret_cast<std::byte*>(value.data()));
    return value;
  };
  const SharedWatch::Value value = value_of(std::countr_zero(lanes));
  for (std::uint32_t left = lanes & (lanes - 1); left != 0; left &= left - 1) {
    if (value_of(std::countr_zero(left)) != value) return;
  }
  access->value = value;
  access->one_value = true;
}

// Neighbouring lanes at even distances are one access: calls `note` with each and its lanes.
template <class Offset, class Note>
void each_run(const Insn* i, const Offset* offsets, std::uint32_t mask, std::uint64_t base,
              std::uint32_t bytes, AccessKind touch, Note note) {
  const auto at = [&](int lane) { return static_cast<std::uint32_t>(base + offsets[lane]); };
  const auto executes = [&](int lane) { return lane < kLanes && (mask >> lane & 1) != 0; };
  for (int lane = 0; lane < kLanes;) {
    if (!executes(lane)) {
      ++lane;
      continue;
    }
    int end = lane + 1;
    std::uint32_t stride = 0;
    if (executes(end) && at(end) >= at(lane)) {
      stride = at(end) - at(lane);
      while (executes(end) && at(end) - at(end - 1) == stride) ++end;
    }
    SharedWatch::Access access;
    access.insn = i;
    access.offset = at(lane);
    access.bytes = bytes;
    access.stride = stride;
    access.places = static_cast<std::uint16_t>(stride == 0 ? 1 : end - lane);
    access.first_lane = static_cast<std::uint8_t>(lane);
    access.touch = touch;
    const std::uint32_t lanes = (~std::uint32_t{0} >> (kLanes - (end - lane))) << lane;
    if (stride == 0) access.lanes = lanes;
    note(access, lanes);
    lane = end;
  }
}

template <class Offset>
void watch_shared(const Insn* i, const Region& region, const Offset* offsets, std::uint32_t mask,
                  std::uint64_t base, std::uint32_t bytes, AccessKind touch,
                  const StoredValues& values) {
  each_run(i, offsets, mask, base, bytes, touch,
           [&](SharedWatch::Access& access, std::uint32_t lanes) {
             if (access.stride == 0) set_value(values, lanes, &access);
             note_shared(region, access, values);
           });
}

// Distinct places of a pattern, and how many lanes lie from one to the next.
struct PatternPlaces {
  std::uint32_t count = kLanes;
  std::uint32_t apart = 1;
};
PatternPlaces places_of(const Pattern& p) {
  if (p.kind == Pattern::Kind::kGroups) {
    // As in a block whose rows have 16 threads.
    if (p.at[8] == p.at[0] && p.at[24] == p.at[16]) return {2, 16};
    return {kLanes / 8, 8};
  }
  if (p.kind == Pattern::Kind::kHalves) return {kLanes / 2, 1};
  return {};
}

// SharedWatch::Access::shape, or kIrregular.
std::uint64_t shape_of(const Pattern& p, const PatternPlaces& places) {
  const std::uint32_t stride = p.at[places.apart] - p.at[0];
  if (p.at[0] != 0 || ((p.bits | stride) & 3) != 0) return kIrregular;
  std::uint64_t footprint = 0;
  for (std::uint32_t k = 0; k < places.count; ++k) {
    const std::uint32_t at = p.at[k * places.apart];
    if (at != k * stride) return kIrregular;
    if (p.span < 256) footprint |= std::uint64_t{1} << (at / 4);
  }
  if (p.span < 256) return footprint;
  return std::uint64_t{stride} << 32 | places.count << 16 | places.apart << 8;
}

}  // namespace

void watch_row(Exec* x, const Insn* i, const Region& region, bool is_shared, std::uint64_t offset,
               std::uint32_t bytes, AccessKind touch, const StoredValues& values) {
  if (is_shared) {
    SharedWatch::Access access;
    access.insn = i;
    access.offset = static_cast<std::uint32_t>(offset);
    access.bytes = access.stride = bytes;
    access.places = kLanes;
    access.touch = touch;
    return note_shared(region, access, values);
  }
  if (GridRaces* races = x->grid->races.get()) {
    races->touch({.x = x,
                  .insn = i,
                  .region = &region,
                  .bytes = bytes,
                  .touch = touch,
                  .values = values,
                  .is_noncoherent = loads_noncoherently(i, touch)},
                 0, kLanes, offset);
  }
  if (!concerns(x, region, touch)) return;
  note_time(x, region, offset, std::uint64_t{kLanes} * bytes, touch);
  GlobalWatch watch(x, i, region, bytes, touch, false, MemoryScope::kSystem,
                    loads_noncoherently(i, touch));
  watch.touch_run(0, kLanes, region.within + offset);
}

namespace {

[[gnu::noinline]] void watch_new_pattern(const Insn* i, const Region& region, std::uint64_t offset,
                                         Pattern& p, std::uint32_t bytes, AccessKind touch,
                                         const StoredValues& values) {
  const PatternPlaces places = places_of(p);
  if (p.footprint == 0) p.footprint = shape_of(p, places);
  if (p.footprint == kIrregular || (offset & 3) != 0 || bytes < 4) {
    return watch_shared(i, region, p.at, kAllLanes, offset, bytes, touch, values);
  }
  SharedWatch::Access access;
  access.insn = i;
  access.offset = static_cast<std::uint32_t>(offset);
  access.bytes = bytes;
  access.stride = p.at[places.apart] - p.at[0];
  access.places = static_cast<std::uint16_t>(access.stride == 0 ? 1 : places.count);
  access.lanes_apart = static_cast<std::uint8_t>(places.apart);
  access.touch = touch;
  if (access.stride == 0) {
    access.lanes = kAllLanes;
    set_value(values, kAllLanes, &access);
  }
  access.shape = p.footprint;
  note_shared(region, access, values);
}

}  // namespace

void watch_pattern(Exec* x, const Insn* i, const Region& region, bool is_shared,
                   std::uint64_t offset, Pattern& p, std::uint32_t bytes, AccessKind touch,
                   const StoredValues& values) {
  if (!is_shared) {
    if (p.kind == Pattern::Kind::kStrided && p.stride == bytes) {
      return watch_row(x, i, region, false, offset, bytes, touch, values);
    }
    return watch_global(x, i, region, p.at, kAllLanes, offset, bytes, touch, values);
  }
  SharedWatch::Open& open = *static_cast<SharedWatch::Open*>(region.shadow);
  if (p.footprint != 0 && open.note_again(i, static_cast<std::uint32_t>(offset), p.footprint)) {
    return;
  }
  watch_new_pattern(i, region, offset, p, bytes, touch, values);
}

void watch_lanes(Exec* x, const Insn* i, const Region& region, bool is_shared,
                 const std::uint32_t* offsets, std::uint32_t bytes, AccessKind touch,
                 const StoredValues& values) {
  if (is_shared) return watch_shared(i, region, offsets, x->mask, 0, bytes, touch, values);
  watch_global(x, i, region, offsets, x->mask, 0, bytes, touch, values);
}

void watch_lanes(Exec* x, const Insn* i, const Region& region, bool is_shared,
                 const std::uint64_t* offsets, std::uint32_t bytes, AccessKind touch,
                 const StoredValues& values) {
  if (is_shared) return watch_shared(i, region, offsets, x->mask, 0, bytes, touch, values);
  watch_global(x, i, region, offsets, x->mask, 0, bytes, touch, values);
}

void watch_lane(Exec* x, const Insn* i, int lane, const Region& region, bool is_shared,
                std::uint64_t offset, std::uint32_t bytes, AccessKind touch, bool strong,
                MemoryScope scope, const StoredValues& values) {
  const AccessKind plain = touch;
  if (strong && touch == AccessKind::kRead) touch = AccessKind::kStrongRead;
  if (strong && touch == AccessKind::kWrite) touch = AccessKind::kStrongWrite;
  if (!is_shared) {
    if (GridRaces* races = x->grid->races.get()) {
      races->touch({.x = x,
                    .insn = i,
                    .region = &region,
                    .bytes = bytes,
                    .touch = touch,
                    .scope = scope,
                    .values = values},
                   lane, 1, offset);
    }
    if (concerns(x, region, plain)) {
      note_time(x, region, offset, bytes, plain);
      GlobalWatch(x, i, region, bytes, plain, strong, scope).touch(lane, region.within + offset);
    }
    return;
  }
  // With the scope of the block it is not strong for the block whose memory it is.
  const bool is_remote = region.shadow != &x->block->watch->open(x->block->rank, x);
  if (is_remote && scope == MemoryScope::kBlock) {
    touch = reads_only(touch) ? AccessKind::kRead : AccessKind::kWrite;
  }
  SharedWatch::Access access;
  access.insn = i;
  access.offset = static_cast<std::uint32_t>(offset);
  access.bytes = bytes;
  access.first_lane = static_cast<std::uint8_t>(lane);
  access.lanes = 1u << lane;
  access.touch = touch;
  access.is_for_block =
      scope == MemoryScope::kBlock && is_strong(touch) && x->grid->launch.cluster.count() > 1;
  set_value(values, 1u << lane, &access);
  note_shared(region, access, values);
}

void watch_noncoherent(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                       std::uint32_t bytes) {
  if (GridRaces* races = x->grid->races.get()) {
    races->touch({.x = x, .insn = i, .region = &region, .bytes = bytes, .is_noncoherent = true},
                 lane, 1, offset);
  }
  if (!concerns(x, region, AccessKind::kRead)) return;
  note_time(x, region, offset, bytes, AccessKind::kRead);
  GlobalWatch(x, i, region, bytes, AccessKind::kRead, false, MemoryScope::kSystem, true)
      .touch(lane, region.within + offset);
}

void watch_copy(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                std::uint32_t bytes, AccessKind touch, const CopyParty* copy) {
  if (GridRaces* races = x->grid->races.get()) {
    races->touch({.x = x,
                  .insn = i,
                  .region = &region,
                  .bytes = bytes,
                  .touch = touch,
                  .is_kept = copy != nullptr || !reads_only(touch),
                  .is_async = copy == nullptr || copy->is_bulk,
                  .copy = copy},
                 lane, 1, offset);
  }
  if (!concerns(x, region, touch)) return;
  note_time(x, region, offset, bytes, touch, copy);
  // The updates of a copy are relaxed, with the scope of the device (PTX ISA 9.0,
  // "cp.reduce.async.bulk").
  GlobalWatch(x, i, region, bytes, touch, is_strong(touch), MemoryScope::kDevice)
      .touch(lane, region.within + offset);
}

CopyParty watch_copies(Exec* x, const Insn* i, const std::uint32_t* offsets, std::uint32_t mask,
                       std::uint32_t bytes) {
  std::array<SharedWatch::Access, kLanes> runs;
  std::size_t count = 0;
  each_run(i, offsets, mask, 0, bytes, AccessKind::kWrite,
           [&](const SharedWatch::Access& access, std::uint32_t) { runs[count++] = access; });
  return x->block->watch->note_copies(x, {runs.data(), count});
}

}  // namespace baton::sim
