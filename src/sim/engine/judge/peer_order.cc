#include "sim/engine/judge/peer_order.h"

#include <algorithm>

namespace baton::sim {
namespace {

using Number = Ordering::Number;
using Relation = Ordering::Relation;

constexpr std::size_t kMostLearned = 1024;  // grids
constexpr std::size_t kMostNarrow = std::size_t{1} << 16;
constexpr std::size_t kMostFlags = std::size_t{1} << 16;

}  // namespace

PeerOrder& PeerOrder::instance() {
  static auto& instance = *new PeerOrder;
  return instance;
}

// Flags of grids that count as done before everything tell nothing.
void PeerOrder::forget_old_flags() {
  const Number last = Ordering::instance().last();
  std::erase_if(flags_, [&](const auto& each) {
    return each.second.writer.grid + Ordering::kRemembered < last;
  });
}

void PeerOrder::tell(std::uint64_t flag, const Writer& writer, bool updates, const PeerClock& all,
                     const PeerClock& device) {
  std::lock_guard lock(mutex_);
  auto found = flags_.find(flag);
  if (found == flags_.end()) {
    if (device.empty()) return;
    if (flags_.size() >= kMostFlags) forget_old_flags();
    found = flags_.try_emplace(flag).first;
  }
  Flag& told = found->second;
  if (!updates && told.writer != writer) told = {};
  told.writer = writer;
  told.all.merge(all);
  told.by_device[writer.device].merge(device);
}

PeerOrder::Told PeerOrder::told(std::uint64_t flag, int device, bool for_system) const {
  std::lock_guard lock(mutex_);
  const auto found = flags_.find(flag);
  if (found == flags_.end()) return {};
  Told told;
  if (for_system) told.all = found->second.all;
  for (const auto& [writer, clock] : found->second.by_device) {
    (writer == device ? told.device : told.narrow).merge(clock);
  }
  return told;
}

void PeerOrder::note_narrow(Number grid, std::uint32_t insn) {
  std::lock_guard lock(mutex_);
  narrow_.emplace(grid, insn);
  if (narrow_.size() > kMostNarrow) narrow_.erase(narrow_.begin());
}

bool PeerOrder::is_narrow(Number grid, std::uint32_t insn) const {
  std::lock_guard lock(mutex_);
  return narrow_.contains({grid, insn});
}

void PeerOrder::learn(Number grid, bool has_waited, const PeerClock& told) {
  std::lock_guard lock(mutex_);
  const auto [found, is_new] = learned_.try_emplace(grid);
  if (!is_new && found->second.covers(told)) return;
  if (is_new) {
    // So what comes after this grid need not look further back.
    found->second = inherited_locked(grid, has_waited);
    if (learned_.size() > kMostLearned) learned_.erase(learned_.begin());
  }
  if (const auto present = learned_.find(grid); present != learned_.end()) {
    present->second.merge(told);
  }
}

PeerClock PeerOrder::inherited_locked(Number number, bool has_waited) const {
  const Ordering& ordering = Ordering::instance();
  PeerClock all;
  std::vector<Number> taken;
  for (auto each = learned_.rbegin(); each != learned_.rend(); ++each) {
    const Number earlier = each->first;
    if (earlier >= number) continue;
    const bool is_known = std::ranges::any_of(taken, [&](Number later) {
      return ordering.relation(later, earlier) == Relation::kBefore;
    });
    if (is_known) continue;
    const Relation relation = ordering.relation(number, earlier);
    if (relation != Relation::kBefore && (relation != Relation::kAwaited || !has_waited)) continue;
    taken.push_back(earlier);
    all.merge(each->second);
  }
  all.drop_before(number);
  return all;
}

PeerClock PeerOrder::inherited(Number number, bool has_waited) const {
  std::lock_guard lock(mutex_);
  return inherited_locked(number, has_waited);
}

bool PeerOrder::comes_after(const PeerClock& clock, Number other, bool other_writes,
                            const AccessNotes& notes, std::uint64_t offset, std::uint64_t bytes) {
  const Ordering& ordering = Ordering::instance();
  return std::ranges::any_of(clock.grids(), [&](const PeerClock::Grid& grid) {
    if (grid.number == other) {
      return notes.are_over(offset, bytes, other, other_writes, grid.over);
    }
    const Relation relation = ordering.relation(grid.number, other);
    return relation == Relation::kBefore || (relation == Relation::kAwaited && grid.has_waited);
  });
}

}  // namespace baton::sim
