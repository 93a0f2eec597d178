#include "sim/engine/judge/hazards.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim/engine/judge/access_pair.h"
#include "sim/engine/judge/grid_races.h"
#include "sim/engine/judge/peer_order.h"
#include "sim/engine/memory/launch_ranges.h"

namespace baton::sim {
namespace {

using Relation = Ordering::Relation;

constexpr std::uint64_t kRelations = Ordering::kRemembered;

}  // namespace

void begin_watch(GridState* grid) {
  if (grid->launch.finds_own_races) grid->races = std::make_shared<GridRaces>();
  if (grid->launch.number != 0 && grid->launch.watched && grid->memory->impl().is_watched()) {
    grid->relations = std::make_unique<std::atomic<std::uint8_t>[]>(kRelations);
    grid->orders_peers = PeerOrder::instance().is_active() && grid->kernel->has_flags;
  }
  if (grid->races != nullptr || grid->orders_peers) {
    grid->cluster_flags = std::make_unique<GridFlags>();
  }
  if (grid->launch.number == 0 || !grid->launch.is_programmatic || grid->kernel->has_grid_wait) {
    return;
  }
  driver::Finding finding = no_wait_finding(grid->launch.kernel->name, *grid->kernel);
  finding.tag = driver::tag_of(grid->launch.note.get());
  grid->log->add(std::move(finding));
}

GlobalWatch::GlobalWatch(Exec* x, const Insn* i, const Region& region, std::uint32_t bytes,
                         AccessKind touch, bool strong, MemoryScope scope, bool is_noncoherent)
    : x_(x),
      i_(i),
      start_(region.base - region.within),
      shadow_(static_cast<Shadow*>(region.shadow)),
      bytes_(bytes),
      touch_(touch),
      // A narrower scope has no thread of another grid.
      strong_(strong && has_device(scope)),
      is_noncoherent_(is_noncoherent),
      is_narrow_(strong_ && scope != MemoryScope::kSystem && PeerOrder::instance().is_active()),
      own_(x->grid->launch.number & Toucher::kNumbers),
      mine_(Toucher(own_, x->block->number, x->warp->index * kLanes, i->cache, strong_, false)
                .bits()) {}

Toucher GlobalWatch::mine_of(int lane) const {
  return Toucher(mine_).for_lane(lane, (x_->warp->ordered.waited() >> lane & 1) != 0);
}

GlobalWatch::~GlobalWatch() {
  if (has_found_) report();
  if (forbidden_ != 0) report_forbidden();
}

Relation GlobalWatch::relation_to(Toucher other) const {
  const GridState& grid = *x_->grid;
  const std::uint64_t age = (grid.launch.number - other.low_number()) & Toucher::kNumbers;
  if (age >= Ordering::kRemembered && age <= Toucher::kNumbers / 2) return Relation::kBefore;
  std::atomic<std::uint8_t>& known = grid.relations[other.low_number() % kRelations];
  auto relation = static_cast<Relation>(known.load(std::memory_order_relaxed));
  if (relation == Relation::kUnknown) {
    Ordering& ordering = Ordering::instance();
    const Ordering::Number number = other.number(ordering.last());
    relation = ordering.relation(grid.launch.number, number);
    // What is not done yet may still wait, and order this grid's threads by that.
    const bool is_final = relation != Relation::kNone || number > grid.launch.number ||
                          grid.prerequisites_done.load(std::memory_order_relaxed);
    if (is_final) known.store(static_cast<std::uint8_t>(relation), std::memory_order_relaxed);
  }
  return relation;
}

void GlobalWatch::found(Toucher other, bool other_writes, int lane, std::uint64_t offset) {
  bool has_narrow_scope = false;
  if (strong_ && other.is_strong()) {
    has_narrow_scope = is_of_other_device(other) && (is_narrow_ || is_narrow(other));
    if (!has_narrow_scope) return;
  }
  const bool same = has_found_ && found_.other_writes == other_writes &&
                    found_.other.low_number() == other.low_number() &&
                    found_.other.insn() == other.insn();
  if (same) {
    ++found_.count;
    return;
  }
  if (has_found_) report();
  has_found_ = true;
  has_narrow_scope = has_narrow_scope || is_told_too_narrowly(other, other_writes, offset);
  found_ = {other, other_writes, lane, offset, 1, has_narrow_scope};
}

void GlobalWatch::report() {
  has_found_ = false;
  GridState& grid = *x_->grid;
  const Toucher mine = mine_of(found_.lane);
  const Ordering::Number number = found_.other.number(Ordering::instance().last());
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i_), found_.other.low_number(),
                                   found_.other.insn(), found_.other_writes ? 1u : 0u};
  grid.logged.add(*grid.log, key, found_.count, [&] {
    return pair_finding(*grid.memory, {grid.launch.number, mine, touch_ != AccessKind::kRead},
                        {number, found_.other, found_.other_writes}, start_ + found_.offset, bytes_,
                        found_.is_narrow);
  });
}

// Whether this grid wrote it, or one that may still run while this one does. A non-coherent load is
// then undefined, whatever orders it after the write (PTX ISA 9.0, "ld.global.nc").
bool GlobalWatch::may_write_meanwhile(Toucher writer) const {
  if (!writer.is_any()) return false;
  // Those who look for races inside a grid find its own writes (grid_races.h).
  if (writer.low_number() == own_) return x_->grid->races == nullptr;
  return writer.low_number() != writer_before_ && relation_to(writer) != Relation::kBefore;
}

void GlobalWatch::report_noncoherent(Toucher writer, int lane, std::uint64_t offset) {
  GridState& grid = *x_->grid;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i_), writer.low_number(),
                                   writer.insn(), 5u};
  grid.logged.add(*grid.log, key, 1, [&] {
    const Ordering::Number number = writer.number(Ordering::instance().last());
    return noncoherent_finding(*grid.memory, {grid.launch.number, mine_of(lane), false},
                               {number, writer, true}, start_ + offset, bytes_);
  });
}

// Each access of a cache against its counter: of writes, and of reads before the wait.
void GlobalWatch::look_at_rows(int lane, std::uint64_t offset) {
  const bool reads = reads_only(touch_);
  if (reads && (!x_->grid->launch.is_programmatic || mine_of(lane).has_waited())) return;
  for (const FrozenPart& part : shadow_->frozen()) {
    if (!part.holds(offset, bytes_)) continue;
    const std::uint64_t count = part.count();
    const auto [lowest, highest] = part.rows_of(offset, bytes_);
    const std::uint64_t row = reads ? highest : lowest;
    if (reads ? row >= count : row < count) report_row(part, lane, offset, row, count);
  }
}

void GlobalWatch::report_row(const FrozenPart& part, int lane, std::uint64_t offset,
                             std::uint64_t row, std::uint64_t count) {
  GridState& grid = *x_->grid;
  const bool reads = reads_only(touch_);
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i_), 0, 0, reads ? 3u : 4u};
  grid.logged.add(*grid.log, key, 1, [&] {
    const std::uint64_t address = start_ + offset;
    driver::Finding finding =
        finding_at(x_, i_, lane,
                   reads ? driver::FindingKind::kUnfrozenRead : driver::FindingKind::kFrozenWrite);
    finding.message = fmt::format(
        "{} {} bytes at {:#x}, {}, in row {}, and {} is {}: {}", reads ? "reads" : "writes", bytes_,
        address, describe(*grid.memory, grid.launch.note.get(), address), row, part.name, count,
        reads ? "before its wait a dependent grid may read only rows below that"
              : "no kernel may write rows below that");
    return finding;
  });
}

void GlobalWatch::report_forbidden() {
  GridState& grid = *x_->grid;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i_), 0, 0, 2};
  grid.logged.add(*grid.log, key, forbidden_, [&] {
    const std::uint64_t address = start_ + forbidden_offset_;
    driver::Finding finding =
        finding_at(x_, i_, forbidden_lane_, driver::FindingKind::kWeightWritten);
    finding.message = fmt::format("writes {} bytes at {:#x}, {}, which no kernel may write", bytes_,
                                  address, describe(*grid.memory, grid.launch.note.get(), address));
    return finding;
  });
}

// The toucher makes room for this grid.
void GlobalWatch::retain(Shadow::Kept& kept, const Shadow::Cell* cell, Toucher toucher) {
  const Ordering& ordering = Ordering::instance();
  const Ordering::Number last = ordering.last();
  shadow_->keep(kept, cell, toucher.bits(), [&](Toucher other) {
    return ordering.relation(toucher.number(last), other.number(last)) == Relation::kBefore;
  });
}

// Whether the lane comes after the other grid because it waited, and one of those beside it does
// not.
bool GlobalWatch::comes_alone(Toucher other, int lane, std::uint32_t beside) const {
  const std::uint32_t waited = x_->warp->ordered.waited();
  return (waited >> lane & 1) != 0 && (beside & ~waited) != 0 &&
         !is_ignorable(other.bits(), UINT64_MAX) && relation_to(other) == Relation::kAwaited;
}

// Whether the other one is empty, this grid, or the operation that all lanes come after.
inline bool GlobalWatch::is_ignorable(std::uint64_t other, std::uint64_t before) const {
  const std::uint64_t number = Toucher(other).low_number();
  return other == 0 || number == own_ || number == before;
}

// Whether there is nothing to be found between this access and the other one.
bool GlobalWatch::is_harmless(Toucher other, int lane, std::uint64_t* before) {
  if (is_ignorable(other.bits(), *before)) return true;
  const Relation relation = relation_to(other);
  if (relation == Relation::kBefore) {
    *before = other.low_number();  // for all lanes, whatever they waited for
    return true;
  }
  const bool waited = (x_->warp->ordered.waited() >> lane & 1) != 0;
  return (relation == Relation::kAwaited && waited) || is_behind_flag(other, lane);
}

// Whether the lane acquired a flag that the other's grid released, or a grid that comes after it.
bool GlobalWatch::is_behind_flag(Toucher other, int lane) const {
  for (int source = 1; source < OrderedLanes::kSources; ++source) {
    if ((x_->warp->ordered.of(source) >> lane & 1) == 0) continue;
    const Ordering& ordering = Ordering::instance();
    const Ordering::Number number = other.number(ordering.last());
    for (const FlagSource& flag : x_->grid->acquired.of(source)) {
      if (flag.grid == number) return true;
      const Relation relation = ordering.relation(flag.grid, number);
      if (relation == Relation::kBefore) return true;
      if (relation == Relation::kAwaited && flag.has_waited) return true;
    }
  }
  return false;
}

// Of this grid's accesses the first is kept, or the first that others may race.
inline bool GlobalWatch::is_noted(std::uint64_t mine) const {
  const Toucher toucher(mine);
  if (!toucher.is_any() || toucher.low_number() != own_) return false;
  if (!toucher.is_strong()) return true;
  return strong_ && (!is_narrow_ || is_narrow(toucher));
}

// Whether the lane comes after the other grid because it waited.
bool GlobalWatch::is_awaited(Toucher other, int lane) const {
  return (x_->warp->ordered.waited() >> lane & 1) != 0 && !is_ignorable(other.bits(), UINT64_MAX) &&
         relation_to(other) == Relation::kAwaited;
}

// Those that threads of this grid replaced which had waited, while this lane has not.
void GlobalWatch::look_at_awaited(const Shadow::Layout& layout, const Shadow::Cell& cell,
                                  std::uint64_t number, int lane, std::uint64_t offset) {
  const Shadow::Layout* const awaited = layout.awaited.load(std::memory_order_acquire);
  if (awaited == nullptr || (x_->warp->ordered.waited() >> lane & 1) != 0) return;
  const Shadow::Cell kept =
      awaited->lock(number / ShadowGroup::kCells).at(number % ShadowGroup::kCells);
  const Toucher writer(kept.write), reader(kept.read);
  const auto is_own = [&](std::uint64_t bits) { return Toucher(bits).low_number() == own_; };
  if (is_own(cell.write) && !is_right(writer, true, lane, offset, &writer_before_)) {
    found(writer, true, lane, offset);
  }
  if (touch_ != AccessKind::kRead && is_own(cell.read) &&
      !is_right(reader, false, lane, offset, &reader_before_)) {
    found(reader, false, lane, offset);
  }
}

void GlobalWatch::look(const Shadow::Layout& layout, Shadow::Cell* cell, std::uint64_t number,
                       int lane, std::uint64_t offset) {
  const Toucher writer(cell->write);
  const Toucher reader(cell->read);
  // What this access replaces.
  const auto keep = [&](std::uint64_t Shadow::Cell::*half) {
    const Shadow::Layout* const awaited = shadow_->awaited(layout);
    if (awaited == nullptr) return;
    LockedGroup group = awaited->lock(number / ShadowGroup::kCells);
    group.split()[number % ShadowGroup::kCells].*half = cell->*half;
  };
  look_at_awaited(layout, *cell, number, lane, offset);
  const bool is_beside_writer = !is_right(writer, true, lane, offset, &writer_before_);
  if (is_beside_writer) found(writer, true, lane, offset);
  if (is_noncoherent_ && !is_beside_writer && may_write_meanwhile(writer)) {
    report_noncoherent(writer, lane, offset);
  }
  if (shadow_->writers.has_any()) {
    for (const std::uint64_t bits : shadow_->kept_of(shadow_->writers, cell)) {
      if (!is_right(Toucher(bits), true, lane, offset, &writer_before_)) {
        found(Toucher(bits), true, lane, offset);
      }
    }
  }
  if (touch_ == AccessKind::kRead) {
    if (is_noted(cell->read)) return;
    if (!is_harmless(reader, lane, &reader_before_) || comes_alone(reader, lane, x_->mask)) {
      retain(shadow_->readers, cell, reader);
    } else if (is_awaited(reader, lane)) {
      keep(&Shadow::Cell::read);
    }
    cell->read = mine_of(lane).bits();
    return;
  }
  if (!is_right(reader, false, lane, offset, &reader_before_)) {
    found(reader, false, lane, offset);
  }
  if (shadow_->readers.has_any()) {
    for (const std::uint64_t bits : shadow_->kept_of(shadow_->readers, cell)) {
      if (!is_right(Toucher(bits), false, lane, offset, &reader_before_)) {
        found(Toucher(bits), false, lane, offset);
      }
    }
  }
  // Writes are fewer than reads, so more of them are kept. One that this grid is not ordered with
  // may be in a race with what comes after this grid.
  if (is_beside_writer || comes_alone(writer, lane, x_->warp->live)) {
    retain(shadow_->writers, cell, writer);
  } else if (is_awaited(writer, lane)) {
    keep(&Shadow::Cell::write);
  }
  if (!is_noted(cell->write)) cell->write = mine_of(lane).bits();
}

// Does what `look` does where there is nothing to find or to keep, which is nearly always; false
// elsewhere.
template <bool Reads>
inline bool GlobalWatch::note_cell(Shadow::Cell* cell, std::uint64_t me) const {
  if (!is_ignorable(cell->write, writer_before_)) return false;
  if (Reads && is_noncoherent_ && may_write_meanwhile(Toucher(cell->write))) return false;
  if (Reads && is_noted(cell->read)) return true;
  if (!is_ignorable(cell->read, reader_before_)) return false;
  if (Reads) {
    cell->read = me;
  } else if (!is_noted(cell->write)) {
    cell->write = me;
  }
  return true;
}

// The same for a group that is not split, and lanes that touch all of it.
template <bool Reads>
inline bool GlobalWatch::note_whole(const Shadow::Layout& layout, LockedGroup& group,
                                    std::uint64_t number, int lane, std::uint8_t step) {
  const ShadowCell& last = group.first();
  // What this access replaces.
  const auto keep = [&](std::uint64_t Shadow::Cell::*half) {
    if (!is_awaited(Toucher(last.*half), lane)) return;
    if (const Shadow::Layout* const awaited = shadow_->awaited(layout)) {
      awaited->lock(number).take(half, group);
    }
  };
  if (!is_harmless(Toucher(last.write), lane, &writer_before_)) return false;
  if (Reads && is_noncoherent_ && may_write_meanwhile(Toucher(last.write))) return false;
  if (Reads && is_noted(last.read)) return true;
  if (!is_harmless(Toucher(last.read), lane, &reader_before_)) return false;
  if (Reads) {
    if (comes_alone(Toucher(last.read), lane, x_->mask)) return false;
    if (!is_ignorable(last.read, reader_before_)) keep(&Shadow::Cell::read);
    group.set_read(mine_of(lane).bits(), step);
  } else {
    if (comes_alone(Toucher(last.write), lane, x_->warp->live)) return false;
    if (!is_ignorable(last.write, writer_before_)) keep(&Shadow::Cell::write);
    if (!is_noted(last.write)) group.set_write(mine_of(lane).bits(), step);
  }
  return true;
}

// Whether all of the lanes come after the same other grids.
inline bool GlobalWatch::are_ordered_alike(int lane, std::uint32_t lanes) const {
  const std::uint32_t all = kAllLanes >> (kLanes - lanes) << lane;
  bool alike = true;
  for (int source = 0; source < OrderedLanes::kSources; ++source) {
    const std::uint32_t ordered = x_->warp->ordered.of(source) & all;
    alike &= ordered == 0 || ordered == all;
  }
  return alike;
}

template <bool Reads>
void GlobalWatch::touch_cells(const Shadow::Layout& layout, int lane, std::uint32_t lanes,
                              std::uint64_t offset) {
  constexpr std::uint64_t kCells = ShadowGroup::kCells;
  const std::uint32_t cells = bytes_ >> layout.shift;  // of a lane
  const std::uint64_t first = offset >> layout.shift;
  const std::uint64_t end = first + lanes * cells;
  // What lanes that waited noted says nothing about lanes that did not.
  const bool is_early =
      x_->grid->launch.is_programmatic && (x_->mask & ~x_->warp->ordered.waited()) != 0;
  if (Reads && !is_early) {
    bool is_noted = true;
    for (std::uint64_t g = first / kCells; g <= (end - 1) / kCells; ++g) {
      is_noted &= layout.groups[g].is_noted_by(own_, is_noncoherent_);
    }
    if (is_noted) return;
  }
  const bool is_even = std::has_single_bit(cells) && first % cells == 0;
  const int step = std::countr_zero(cells);  // where they are even
  const bool is_alike = is_even && are_ordered_alike(lane, lanes);
  // What lanes noted that come after other grids by a flag says nothing about the others.
  bool has_flags = false;
  for (int source = 1; source < OrderedLanes::kSources; ++source) {
    has_flags |= (x_->warp->ordered.of(source) & x_->mask) != 0;
  }
  for (std::uint64_t from = first; from < end;) {
    const std::uint64_t to = std::min(end, (from / kCells + 1) * kCells);
    const std::uint64_t behind = is_even ? (from - first) >> step : (from - first) / cells;
    LockedGroup group = layout.lock(from / kCells);
    if (!Reads) group.note_all(0);
    bool is_noted = false;
    // Lanes that have not waited are compared with all that others replaced. Whoever replaces
    // something does so with the group locked.
    const bool looks_at_all = is_early && layout.awaited.load(std::memory_order_acquire) != nullptr;
    if (looks_at_all) {
      touch_parts<Reads>(layout, group, {cells, first, from, to, true}, lane, offset);
    } else if (is_alike && to - from == kCells) {
      const auto kept_step = static_cast<std::uint8_t>(std::min(step, ShadowGroup::kOneThread));
      is_noted = !group.is_split() && note_whole<Reads>(layout, group, from / kCells,
                                                        lane + static_cast<int>(behind), kept_step);
      if (!is_noted) {
        is_noted = touch_parts<Reads>(layout, group, {cells, first, from, to, false}, lane, offset);
        group.try_join();
      }
      if (Reads && is_noted && !has_flags) group.note_all(own_, is_noncoherent_);
    } else {
      touch_parts<Reads>(layout, group, {cells, first, from, to, false}, lane, offset);
    }
    from = to;
  }
}

// Cells of one group. Returns whether there was nothing to find in any, or to keep.
template <bool Reads>
bool GlobalWatch::touch_parts(const Shadow::Layout& layout, LockedGroup& group, const Parts& parts,
                              int lane, std::uint64_t offset) {
  Shadow::Cell* const cells = group.split();
  bool all_noted = true;
  std::uint64_t behind = (parts.from - parts.first) / parts.of_lane;
  std::uint64_t next = parts.first + (behind + 1) * parts.of_lane;  // the next lane's first cell
  std::uint64_t me = mine_of(lane + static_cast<int>(behind)).bits();
  for (std::uint64_t k = parts.from; k < parts.to; ++k) {
    if (k == next) {
      next += parts.of_lane;
      me = mine_of(lane + static_cast<int>(++behind)).bits();
    }
    Shadow::Cell* const cell = cells + k % ShadowGroup::kCells;
    if (!parts.looks_at_all && note_cell<Reads>(cell, me)) continue;
    look(layout, cell, k, lane + static_cast<int>(behind), offset + behind * bytes_);
    all_noted = all_noted && note_cell<Reads>(cell, me);
  }
  return all_noted;
}

// Memory that was allocated in the order of a stream, against that allocation.
void GlobalWatch::look_at_origin(int lane, std::uint64_t offset) {
  const Toucher origin(shadow_->origin.load(std::memory_order_relaxed));
  if (!origin.is_any() || x_->grid->relations == nullptr) return;
  std::uint64_t before = UINT64_MAX;
  if (!is_harmless(origin, lane, &before)) found(origin, true, lane, offset);
}

void GlobalWatch::touch_run(int lane, std::uint32_t lanes, std::uint64_t offset) {
  const bool reads = touch_ == AccessKind::kRead;
  const bool is_plain = shadow_->notes && x_->grid->relations != nullptr && own_ != 0 && !strong_ &&
                        !shadow_->has_frozen && !shadow_->writers.has_any() &&
                        (reads || (!shadow_->is_read_only && !shadow_->readers.has_any()));
  const Shadow::Layout* layout = is_plain ? shadow_->layout(offset, bytes_) : nullptr;
  if (layout == nullptr) {
    for (std::uint32_t k = 0; k < lanes; ++k) {
      touch(lane + static_cast<int>(k), offset + std::uint64_t{k} * bytes_);
    }
    return;
  }
  look_at_origin(lane, offset);
  if (reads) return touch_cells<true>(*layout, lane, lanes, offset);
  touch_cells<false>(*layout, lane, lanes, offset);
}

void GlobalWatch::touch(int lane, std::uint64_t offset) {
  if (is_narrow_) note_narrow();
  if (shadow_->has_frozen) look_at_rows(lane, offset);
  if (shadow_->is_read_only && touch_ != AccessKind::kRead) {
    if (forbidden_++ == 0) {
      forbidden_lane_ = lane;
      forbidden_offset_ = offset;
    }
  }
  if (!shadow_->notes || x_->grid->relations == nullptr) return;
  look_at_origin(lane, offset);
  const Shadow::Layout* layout = shadow_->layout(offset, bytes_);
  if (layout == nullptr) return;
  const std::uint64_t end = (offset + bytes_ - 1) >> layout->shift;
  for (std::uint64_t k = offset >> layout->shift; k <= end; ++k) {
    LockedGroup group = layout->lock(k / ShadowGroup::kCells);
    if (touch_ != AccessKind::kRead) group.note_all(0);
    look(*layout, group.split() + k % ShadowGroup::kCells, k, lane, offset);
  }
}

}  // namespace baton::sim
