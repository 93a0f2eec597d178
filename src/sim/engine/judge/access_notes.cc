#include "sim/engine/judge/access_notes.h"

#include <algorithm>

namespace baton::sim {
namespace {

// Notes of a sector above which it is looked which of them are still of use.
constexpr std::size_t kManyNotes = 8;

}  // namespace

std::uint32_t AccessNotes::bytes_in(std::uint64_t sector, std::uint64_t offset, std::uint64_t end) {
  const std::uint64_t start = sector * kSector;
  const std::uint64_t from = std::max(offset, start) - start;
  const std::uint64_t to = std::min(end, start + kSector) - start;
  return static_cast<std::uint32_t>(((std::uint64_t{1} << (to - from)) - 1) << from);
}

// The latest of a warp counts: who comes after that one comes after those before it.
void AccessNotes::add(std::vector<Note>& notes, const Note& note) {
  const Access& access = note.access;
  for (Note& old : notes) {
    if (old.access.grid != access.grid || old.access.cluster != access.cluster ||
        old.access.party != access.party || old.access.writes != access.writes) {
      continue;
    }
    if (old.access.segment == access.segment) {
      old.bytes |= note.bytes;
      return;
    }
    old.bytes &= ~note.bytes;
    if (old.bytes != 0) continue;
    old = note;
    return;
  }
  notes.push_back(note);
  if (notes.size() <= kManyNotes) return;
  const Ordering& ordering = Ordering::instance();
  std::erase_if(notes, [&](const Note& old) {
    const bool is_replaced = access.writes || !old.access.writes;
    return is_replaced && (old.bytes & ~note.bytes) == 0 && old.access.grid != access.grid &&
           ordering.relation(access.grid, old.access.grid) == Ordering::Relation::kBefore;
  });
}

void AccessNotes::add(std::uint64_t offset, std::uint64_t bytes, const Access& access) {
  std::lock_guard lock(mutex_);
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t sector = offset / kSector; sector * kSector < end; ++sector) {
    add(sectors_[sector], {access, bytes_in(sector, offset, end)});
  }
  any_.store(true, std::memory_order_release);
}

bool AccessNotes::are_over(std::uint64_t offset, std::uint64_t bytes, Ordering::Number grid,
                           bool writes, const ClusterTimes& over) const {
  if (!any_.load(std::memory_order_acquire)) return true;
  std::lock_guard lock(mutex_);
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t sector = offset / kSector; sector * kSector < end; ++sector) {
    const auto found = sectors_.find(sector);
    if (found == sectors_.end()) continue;
    for (const Note& note : found->second) {
      const Access& access = note.access;
      if (access.grid != grid || access.writes != writes) continue;
      if ((note.bytes & bytes_in(sector, offset, end)) == 0) continue;
      const Times* const times = over.of(access.cluster);
      if (times == nullptr || at(*times, access.party) <= access.segment) return false;
    }
  }
  return true;
}

void AccessNotes::clear() {
  std::lock_guard lock(mutex_);
  sectors_.clear();
  any_.store(false, std::memory_order_release);
}

}  // namespace baton::sim
