#include "sim/engine/judge/hazards.h"

#include <fmt/core.h>

#include "sim/engine/judge/access_pair.h"
#include "sim/engine/judge/grid_races.h"
#include "sim/engine/judge/shadow_groups.h"
#include "sim/engine/memory/launch_ranges.h"

namespace baton::sim {
namespace {

using Relation = Ordering::Relation;

constexpr std::uint64_t kRelations = Ordering::kRemembered;
constexpr std::size_t kAhead = 64;  // cells: of two warps that touch a word a lane

}  // namespace

void begin_watch(GridState* grid) {
  if (grid->launch.finds_own_races) grid->races = std::make_shared<GridRaces>();
  if (grid->launch.number == 0) return;
  if (grid->launch.watched && grid->memory->impl().is_watched()) {
    grid->relations = std::make_unique<std::atomic<std::uint8_t>[]>(kRelations);
  }
  if (!grid->launch.is_programmatic || grid->kernel->has_grid_wait) return;
  driver::Finding finding = no_wait_finding(grid->launch.kernel->name, *grid->kernel);
  finding.tag = driver::tag_of(grid->launch.note.get());
  grid->log->add(std::move(finding));
}

GlobalWatch::GlobalWatch(Exec* x, const Insn* i, const Region& region, std::uint32_t bytes,
                         AccessKind touch, bool strong)
    : x_(x),
      i_(i),
      start_(region.base - region.within),
      shadow_(static_cast<Shadow*>(region.shadow)),
      bytes_(bytes),
      touch_(touch),
      strong_(strong),
      own_(x->grid->launch.number & Toucher::kNumbers),
      mine_(Toucher(own_, x->block->number, x->warp->index * kLanes, i->cache, strong, false)
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
  if (strong_ && other.is_strong()) return;
  const bool same = has_found_ && found_.other_writes == other_writes &&
                    found_.other.low_number() == other.low_number() &&
                    found_.other.insn() == other.insn();
  if (same) {
    ++found_.count;
    return;
  }
  if (has_found_) report();
  has_found_ = true;
  found_ = {other, other_writes, lane, offset, 1};
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
                        {number, found_.other, found_.other_writes}, start_ + found_.offset,
                        bytes_);
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

void GlobalWatch::look(Shadow::Cell* cell, int lane, std::uint64_t offset) {
  const Toucher writer(Shadow::load(cell->write));
  const Toucher reader(Shadow::load(cell->read));
  if (!is_harmless(writer, lane, &writer_before_)) found(writer, true, lane, offset);
  if (shadow_->writers.has_any()) {
    for (const std::uint64_t bits : shadow_->kept_of(shadow_->writers, cell)) {
      if (!is_harmless(Toucher(bits), lane, &writer_before_)) {
        found(Toucher(bits), true, lane, offset);
      }
    }
  }
  const auto me = [&] { return mine_of(lane).bits(); };
  // Of this grid's accesses the first is kept, or the first that others may race.
  const auto is_noted = [&](Toucher mine) {
    return mine.is_any() && mine.low_number() == own_ && (strong_ || !mine.is_strong());
  };
  if (touch_ == AccessKind::kRead) {
    if (is_noted(reader)) return;
    if (!is_harmless(reader, lane, &reader_before_) || comes_alone(reader, lane, x_->mask)) {
      retain(shadow_->readers, cell, reader);
    }
    return Shadow::store(cell->read, me());
  }
  if (!is_harmless(reader, lane, &reader_before_)) found(reader, false, lane, offset);
  if (shadow_->readers.has_any()) {
    for (const std::uint64_t bits : shadow_->kept_of(shadow_->readers, cell)) {
      if (!is_harmless(Toucher(bits), lane, &reader_before_))
        found(Toucher(bits), false, lane, offset);
    }
  }
  // Writes are fewer than reads, so more of them are kept.
  if (comes_alone(writer, lane, x_->warp->live)) retain(shadow_->writers, cell, writer);
  if (!is_noted(writer)) Shadow::store(cell->write, me());
}

// Does what `look` does where there is nothing to find or to keep, which is nearly always; false
// elsewhere.
template <bool Reads>
inline bool GlobalWatch::try_record_fast(Shadow::Cell* cell, std::uint64_t me) const {
  const std::uint64_t writer = Shadow::load(cell->write);
  const std::uint64_t reader = Shadow::load(cell->read);
  if (!is_ignorable(writer, writer_before_)) return false;
  const auto is_noted = [&](std::uint64_t mine) {
    return Toucher(mine).low_number() == own_ && (strong_ || !Toucher(mine).is_strong());
  };
  if (Reads && is_noted(reader)) return true;
  if (!is_ignorable(reader, reader_before_)) return false;
  if (Reads) {
    Shadow::store(cell->read, me);
  } else if (!is_noted(writer)) {
    Shadow::store(cell->write, me);
  }
  return true;
}

// Notes a whole run where all of its cells are alike: one operation wrote them and one read them,
// or nobody, and all lanes come after both. False, with nothing done, elsewhere.
template <bool Reads>
bool GlobalWatch::note_alike(Shadow::Cell* first, std::uint32_t cells, int lane,
                             std::uint32_t lanes) const {
  // Some lanes waited, others not.
  const std::uint32_t waited = x_->warp->ordered.waited() >> lane & (kAllLanes >> (kLanes - lanes));
  if (waited != 0 && waited != kAllLanes >> (kLanes - lanes)) return false;
  const Shadow::Cell known = {Shadow::load(first->write), Shadow::load(first->read)};
  Shadow::Cell differs = {0, 0};
  for (const Shadow::Cell* cell = first; cell != first + std::uint64_t{lanes} * cells; ++cell) {
    differs.write |= Shadow::load(cell->write) ^ known.write;
    differs.read |= Shadow::load(cell->read) ^ known.read;
  }
  // What this grid has noted itself may want another look.
  const auto is_alike = [&](std::uint64_t one, std::uint64_t others, std::uint64_t before,
                            bool is_noted) {
    const std::uint64_t number = Toucher(one).low_number();
    if (one == 0) return others == 0;
    return Toucher(others).low_number() == 0 && number != 0 &&
           (number == own_ ? !is_noted : number == before);
  };
  if (!is_alike(known.write, differs.write, writer_before_, !Reads) ||
      !is_alike(known.read, differs.read, reader_before_, Reads)) {
    return false;
  }
  std::uint64_t me = mine_of(lane).bits();
  for (std::uint32_t k = 0; k < lanes; ++k, me += Toucher::kNextThread) {
    for (std::uint32_t c = 0; c < cells; ++c, ++first) {
      Shadow::store(Reads ? first->read : first->write, me);
    }
  }
  return true;
}

template <bool Reads>
void GlobalWatch::look_at_run(Shadow::Cell* cell, std::uint32_t cells, int lane,
                              std::uint32_t lanes, std::uint64_t offset) {
  const int end = lane + static_cast<int>(lanes);
  for (; lane < end; ++lane, offset += bytes_) {
    const std::uint64_t me = mine_of(lane).bits();
    for (std::uint32_t k = 0; k < cells; ++k, ++cell) {
      if (!try_record_fast<Reads>(cell, me)) look(cell, lane, offset);
    }
  }
}

// Records whether all lanes come after the last accesses of the cell.
inline void GlobalWatch::cache_ordering(const Shadow::Cell& cell, int lane) {
  const auto cache = [&](std::uint64_t bits, std::uint64_t* before) {
    if (!is_ignorable(bits, *before)) is_harmless(Toucher(bits), lane, before);
  };
  cache(Shadow::load(cell.write), &writer_before_);
  cache(Shadow::load(cell.read), &reader_before_);
}

void GlobalWatch::touch_run(int lane, std::uint32_t lanes, std::uint64_t offset) {
  const bool reads = touch_ == AccessKind::kRead;
  const bool is_plain = shadow_->notes && x_->grid->relations != nullptr && own_ != 0 && !strong_ &&
                        !shadow_->writers.has_any() &&
                        (reads || (!shadow_->is_read_only && !shadow_->readers.has_any()));
  const Shadow::Layout* layout = is_plain ? shadow_->layout(offset, bytes_) : nullptr;
  if (layout == nullptr) {
    for (std::uint32_t k = 0; k < lanes; ++k) {
      touch(lane + static_cast<int>(k), offset + std::uint64_t{k} * bytes_);
    }
    return;
  }
  const std::uint32_t cells = bytes_ >> layout->shift;
  const std::uint64_t first = offset >> layout->shift;
  const std::uint64_t last = first + lanes * cells - 1;
  const ShadowGroups groups(*layout);
  if (reads && groups.hold(first, last, own_)) return;
  Shadow::Cell* cell = layout->cells + first;
  // The cells take four times the room of what they stand for, and are rarely in the nearest cache;
  // nor are those of the warps that come next, which mostly touch what is behind.
  for (std::uint32_t k = 0; k < lanes * cells; k += 64 / sizeof(Shadow::Cell)) {
    __builtin_prefetch(cell + k, 1);
    __builtin_prefetch(cell + k + kAhead, 1);
  }
  cache_ordering(*cell, lane);
  if (!reads) {
    if (!note_alike<false>(cell, cells, lane, lanes)) {
      look_at_run<false>(cell, cells, lane, lanes, offset);
    }
    groups.clear(first, last);
    return;
  }
  // No number of a grid, and no other watch's while this one lives.
  const auto token = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
  groups.announce(first, last, token);
  if (note_alike<true>(cell, cells, lane, lanes)) {
    return groups.confirm(first, last, token, own_);
  }
  look_at_run<true>(cell, cells, lane, lanes, offset);
  const std::uint64_t me = mine_of(lane).bits();
  bool all_recorded = true;
  for (std::uint32_t k = 0; k < lanes * cells; ++k)
    all_recorded &= try_record_fast<true>(cell + k, me);
  if (all_recorded) groups.confirm(first, last, token, own_);
}

void GlobalWatch::touch(int lane, std::uint64_t offset) {
  if (shadow_->is_read_only && touch_ != AccessKind::kRead) {
    if (forbidden_++ == 0) {
      forbidden_lane_ = lane;
      forbidden_offset_ = offset;
    }
  }
  if (!shadow_->notes || x_->grid->relations == nullptr) return;
  const Shadow::Layout* layout = shadow_->layout(offset, bytes_);
  if (layout == nullptr) return;
  const std::uint64_t end = (offset + bytes_ - 1) >> layout->shift;
  for (std::uint64_t k = offset >> layout->shift; k <= end; ++k) {
    look(layout->cells + k, lane, offset);
  }
  if (touch_ != AccessKind::kRead) ShadowGroups(*layout).clear(offset >> layout->shift, end);
}

}  // namespace baton::sim
