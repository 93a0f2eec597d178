#include "sim/engine/judge/host_watch.h"

#include <algorithm>
#include <vector>

#include "sim/engine/judge/access_pair.h"
#include "sim/engine/judge/peer_order.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

// One operation of the host.
class HostWatch {
 public:
  HostWatch(DeviceMemory& memory, std::uint64_t start, FindingLog& log, Ordering::Number number,
            AccessKind touch, Shadow* shadow, const Shadow::Layout* layout)
      : memory_(memory),
        start_(start),
        log_(log),
        number_(number),
        touch_(touch),
        shadow_(shadow),
        bytes_(std::uint32_t{1} << layout->shift),
        last_(Ordering::instance().last()),
        me_(number, Toucher::kNoBlock, 0, Toucher::kNoInsn, false, true) {
    if (PeerOrder::instance().is_active()) {
      inherited_ = PeerOrder::instance().inherited(number, true);
    }
  }

  // Memory that was allocated in the order of a stream, against that allocation.
  void look_at_origin(std::uint64_t address) {
    check(Toucher(shadow_->origin.load(std::memory_order_relaxed)), true, address);
  }

  // Cells [from, to) of a group; `address` is that of cell 0.
  void look(LockedGroup& group, std::size_t from, std::size_t to, std::uint64_t address) {
    if (touch_ != AccessKind::kRead) group.note_all(0);
    if (to - from == ShadowGroup::kCells && !group.is_split() && note_whole(group, address)) return;
    Shadow::Cell* const cells = group.split();
    for (std::size_t k = from; k < to; ++k) look(cells + k, address + k * bytes_);
    if (to - from == ShadowGroup::kCells) group.try_join();
  }

 private:
  // A group that is not split; false where its cells must be looked at.
  bool note_whole(LockedGroup& group, std::uint64_t address) {
    const Toucher reader(group.first().read);
    if (shadow_->readers.has_any()) return false;
    if (touch_ == AccessKind::kRead) {
      if (reader.is_any() && !comes_after(reader)) return false;
      check(Toucher(group.first().write), true, address, kWhole);
      group.set_read(me_.bits(), ShadowGroup::kOneThread);
      return true;
    }
    check(Toucher(group.first().write), true, address, kWhole);
    check(reader, false, address, kWhole);
    group.set_write(me_.bits(), ShadowGroup::kOneThread);
    return true;
  }

  void look(Shadow::Cell* cell, std::uint64_t address) {
    check(Toucher(cell->write), true, address);
    const Toucher reader(cell->read);
    if (touch_ == AccessKind::kRead) {
      if (reader.is_any() && !comes_after(reader)) {
        shadow_->keep(shadow_->readers, cell, reader.bits(), [&](Toucher other) {
          return Ordering::instance().relation(reader.number(last_), other.number(last_)) ==
                 Ordering::Relation::kBefore;
        });
      }
      cell->read = me_.bits();
      return;
    }
    check(reader, false, address);
    if (shadow_->readers.has_any()) {
      for (const std::uint64_t bits : shadow_->kept_of(shadow_->readers, cell))
        check(Toucher(bits), false, address);
    }
    cell->write = me_.bits();
  }

  // Whether the host's operation is, or comes after, the other one. Nearly always a few in turn.
  bool comes_after(Toucher other) {
    if (other.low_number() == known_low_) return known_after_;
    const Ordering::Number rival = other.number(last_);
    known_low_ = other.low_number();
    known_after_ = rival == number_ ||
                   Ordering::instance().relation(number_, rival) == Ordering::Relation::kBefore;
    return known_after_;
  }

  // `cells` of them, from that address on.
  void check(Toucher other, bool writes, std::uint64_t address, std::uint32_t cells = 1) {
    if (!other.is_any() || comes_after(other)) return;
    const Ordering::Number rival = other.number(last_);
    if (PeerOrder::comes_after(inherited_, rival, writes, shadow_->accesses, address - start_,
                               std::uint64_t{cells} * bytes_)) {
      return;
    }
    const std::uint64_t key = rival * 2 + (writes ? 1 : 0);
    if (std::find(reported_.begin(), reported_.end(), key) != reported_.end()) return;
    reported_.push_back(key);
    log_.add(pair_finding(memory_, {number_, me_, touch_ != AccessKind::kRead},
                          {rival, other, writes}, address, bytes_));
  }

  static constexpr auto kWhole = static_cast<std::uint32_t>(ShadowGroup::kCells);

  DeviceMemory& memory_;
  const std::uint64_t start_;  // of the allocation
  FindingLog& log_;
  const Ordering::Number number_;
  const AccessKind touch_;
  Shadow* const shadow_;
  const std::uint32_t bytes_;
  const Ordering::Number last_;
  const Toucher me_;
  std::uint64_t known_low_ = UINT64_MAX;
  bool known_after_ = false;
  PeerClock inherited_;                  // what grids before it learned from other devices
  std::vector<std::uint64_t> reported_;  // by who touched it, and how
};

}  // namespace

void watch_host(DeviceMemory& memory, FindingLog& log, Ordering::Number number,
                std::uint64_t address, std::uint64_t bytes, AccessKind touch) {
  const auto snapshot = memory.impl().snapshot();
  const Region* region = snapshot->find(address);
  if (region == nullptr || region->shadow == nullptr || bytes == 0) return;
  Shadow& shadow = *static_cast<Shadow*>(region->shadow);
  if (!shadow.notes) return;
  const std::uint64_t start = region->base - region->within;  // of the allocation
  const std::uint64_t offset = address - start;
  const Shadow::Layout* layout = shadow.layout(offset, bytes);
  if (layout == nullptr || bytes > region->size - (address - region->base)) return;
  HostWatch watch(memory, start, log, number, touch, &shadow, layout);
  watch.look_at_origin(address);
  constexpr std::uint64_t kCells = ShadowGroup::kCells;
  const std::uint64_t end = ((offset + bytes - 1) >> layout->shift) + 1;
  for (std::uint64_t k = offset >> layout->shift; k < end;) {
    const std::uint64_t first = k / kCells * kCells;
    LockedGroup group = layout->lock(k / kCells);
    const std::uint64_t to = std::min(end, first + kCells);
    watch.look(group, k - first, to - first, start + (first << layout->shift));
    k = to;
  }
}

}  // namespace baton::sim
