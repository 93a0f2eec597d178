#include "sim/engine/judge/shared_watch.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace baton::sim {
namespace {

constexpr std::size_t kManyClosed = 128;  // segments, from which on those count as over for a warp
                                          // that are so for some of its lanes

}  // namespace

void SharedWatchDeleter::operator()(SharedWatch* watch) const {
  delete watch;
}

SharedWatch::SharedWatch(std::uint32_t bytes, std::uint32_t warps, std::uint32_t blocks,
                         const Settings& settings)
    : bytes_(bytes), warps_(warps), all_(warps * blocks), settings_(settings), parties_(all_) {
  for (std::uint32_t rank = 0; rank < blocks; ++rank) {
    memories_.push_back(Memory(*this, rank));
    barriers_.emplace_back();
  }
  live_.resize(blocks);
}

void SharedWatch::begin() {
  std::fill(live_.begin(), live_.end(), warps_ == 32 ? UINT32_MAX : (1u << warps_) - 1);
  for (Memory& memory : memories_) memory.begin();
  index_.assign(all_, 1);  // that a warp has begun is a segment of its own
  Knowledge nothing;
  nothing.over.resize(all_);
  clocks_.assign(all_, nothing);
  for (std::uint32_t warp = 0; warp < all_; ++warp) clocks_[warp].over[warp] = 1;
  waited_.assign(all_, Times());
  // Most are empty, and clearing all of them takes longer than a small block runs.
  const auto reset = [](Knowledge& knowledge) {
    if (!knowledge.empty()) knowledge.clear();
  };
  for (auto& barriers : barriers_) std::for_each(barriers.begin(), barriers.end(), reset);
  exited_.resize(memories_.size());
  std::for_each(exited_.begin(), exited_.end(), reset);
  fences_.resize(all_);
  for (Fences& fences : fences_) {
    reset(fences.released);
    reset(fences.seen);
    reset(fences.released_in_block);
    reset(fences.seen_in_block);
  }
  apart_.resize(all_);
  has_apart_.resize(all_);
  for (std::uint32_t warp = 0; warp < all_; ++warp) {
    if (std::exchange(has_apart_[warp], 0) != 0) apart_[warp].clear();
  }
  lane_parties_.clear();
  flags_.clear();
  cluster_.clear();
  cluster_done_.clear();
  mbarriers_.clear();
  copies_.clear();
  reads_.clear();
  stores_.clear();
  products_.clear();
  parties_ = all_;
  patience_ = 0;
}

// The segment of the warp ends, and its next one begins.
void SharedWatch::close(Exec* x, const Who& who) {
  const std::uint32_t warp = who.warp;
  const std::uint32_t index = index_[warp]++;
  for (Memory& memory : memories_) {
    Memory::Ended ended = memory.end(memory.open_[warp]);
    if (ended.touched == nullptr) continue;
    memory.close(x, {warp, warp, index, clocks_[warp], std::move(ended.touched), false, ended.blind,
                     has_apart_[warp] != 0 ? apart_clocks(warp) : nullptr, waited_[warp]});
  }
  if (!who.is_whole || has_apart_[warp] != 0) note_apart(who);
  for (AllCopies* all : {&copies_, &reads_, &products_}) {
    if (all->empty()) continue;
    each_of(*all, warp, kAllLanes,
            [&](Copies& copies) { close_copies(x, copies, warp, all != &copies_); });
  }
}

void SharedWatch::look_at_values() {
  if (looks_at_values_) return;
  looks_at_values_ = true;
  for (Memory& memory : memories_) {
    for (Open& open : memory.open_) open.look_at_values();
  }
}

// What is relaxed releases no more than the latest fence did, and tells that the warp has begun.
void SharedWatch::arrive(Exec* x, Knowledge& object, bool is_relaxed, const Who& who) {
  if (is_relaxed) {
    each_fences(who, [&](const Fences& fences) { merge(object, fences.released); });
    return raise(object.over, who.warp, 1);
  }
  close(x, who);
  tell(x, object, who);
}

void SharedWatch::arrive(Exec* x, std::uint32_t barrier) {
  arrive(x, barriers_[x->block->rank][barrier], false, who_meets(x));
}

void SharedWatch::release(Exec* x, std::uint32_t barrier, std::uint32_t warps, std::uint32_t whole,
                          std::span<const std::uint32_t> lanes, bool of_all) {
  const std::uint32_t rank = x->block->rank;
  const std::uint32_t first = rank * warps_;
  Knowledge& object = barriers_[rank][barrier];
  // It waits for warps to exit, but the memory model orders those alone that take part (PTX ISA
  // 9.0, "barrier").
  const bool orders_exited = of_all && !settings_.keeps_to_model;
  if (orders_exited) merge(object, exited_[rank]);
  // What lanes did that came one after the other is what their warp did.
  for (std::uint32_t left = whole; left != 0; left &= left - 1) {
    const std::uint32_t warp = first + static_cast<std::uint32_t>(std::countr_zero(left));
    share_waited(warp);
    if (!has_apart(warp)) continue;
    meet(warp);
    raise(object.over, warp, index_[warp]);
  }
  for (std::uint32_t left = whole; left != 0; left &= left - 1) {
    merge(clocks_[first + static_cast<std::uint32_t>(std::countr_zero(left))], object);
  }
  for (std::uint32_t left = warps & ~whole; left != 0; left &= left - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(left));
    learn(x, {first + warp, lanes[warp], false}, object);
  }
  object.clear();
  const bool knows_exited = orders_exited || exited_[rank].empty();
  const bool knows_all = memories_.size() == 1 && whole == live_[0] && knows_exited;
  if (knows_all && parties_ == all_ + lane_parties_.size() && !settings_.keeps_unfenced()) {
    memories_[0].forget(index_, nullptr);
  } else {
    forget_ordered();
  }
}

// Drops the segments that come before whatever runs now. That takes time by the square of the
// warps, so it is done once there are as many again as were left the last time.
void SharedWatch::forget_ordered() {
  std::size_t kept = 0;
  for (const Memory& memory : memories_) kept += memory.closed_.size();
  if (kept <= patience_) return;
  Times over(parties_, UINT32_MAX);
  Times fenced(parties_, UINT32_MAX);
  for (std::uint32_t warp = 0; warp < all_; ++warp) {
    if (!is_live(warp)) continue;
    for (std::uint32_t p = 0; p < parties_; ++p) {
      over[p] = std::min(over[p], at(clocks_[warp].over, p));
      fenced[p] = std::min(fenced[p], at(clocks_[warp].fenced, p));
    }
  }
  const auto forget = [&] {
    kept = 0;
    for (Memory& memory : memories_) {
      memory.forget(over, settings_.keeps_unfenced() ? &fenced : nullptr);
      kept += memory.closed_.size();
    }
  };
  forget();
  bool is_parted = false;
  for (std::uint32_t warp = 0; warp < all_; ++warp) {
    is_parted = is_parted || has_apart(warp) || has_parts(warp);
  }
  if (kept > kManyClosed && is_parted) {
    over_for_some(over, fenced);
    forget();
  }
  patience_ = 2 * kept + all_;
}

void SharedWatch::arrive_mbarrier(Exec* x, const Place& mbarrier, bool is_relaxed) {
  Knowledge& arriving = mbarriers_[mbarrier].arriving;
  const Who executing = who(x);
  if (is_relaxed && mbarrier.rank == x->block->rank) {
    each_fences(executing,
                [&](const Fences& fences) { merge(arriving, fences.released_in_block); });
  }
  arrive(x, arriving, is_relaxed, executing);
}

void SharedWatch::complete_mbarrier(const Place& mbarrier) {
  Mbarrier& completed = mbarriers_[mbarrier];
  merge(completed.done, completed.arriving);
  completed.arriving.clear();
}

void SharedWatch::leave_mbarrier(Exec* x, std::uint32_t offset, bool is_relaxed) {
  const Who executing = who(x);
  const Knowledge& done = mbarriers_[{x->block->rank, offset}].done;
  if (is_relaxed) return merge(fences_of(executing).seen_in_block, done);
  learn(x, executing, done);
  forget_ordered();
}

bool SharedWatch::knows_phases(const Exec* x, std::uint32_t offset, bool is_relaxed) {
  const auto found = mbarriers_.find({x->block->rank, offset});
  if (found == mbarriers_.end()) return true;
  const Who executing = who(x);
  const Knowledge& done = found->second.done;
  if (covers(known_to_each(executing), done)) return true;
  // It may have done itself what is told, or have heard of it without an acquire.
  Knowledge known = known_to_each(executing);
  raise_own(known.over, executing);
  merge(known.over, waited_[executing.warp]);
  if (is_relaxed) {
    each_fences(executing, [&](const Fences& fences) { merge(known, fences.seen_in_block); });
  }
  return covers(known, done);
}

void SharedWatch::arrive_cluster(Exec* x, bool is_relaxed) {
  arrive(x, cluster_, is_relaxed, who_meets(x));
}

void SharedWatch::complete_cluster() {
  merge(cluster_done_, cluster_);
  cluster_.clear();
}

void SharedWatch::leave_cluster(Exec* x, std::uint32_t rank, std::uint32_t warp,
                                std::uint32_t lanes, bool is_whole) {
  const Who leaving{rank * warps_ + warp, lanes, is_whole};
  learn(x, leaving, cluster_done_);
  if (is_whole && has_apart(leaving.warp)) {
    close(x, leaving);
    meet(leaving.warp);
  }
  forget_ordered();
}

bool SharedWatch::has_begun(const Exec* x, std::uint32_t rank) {
  const Times& known = known_to(who(x)).over;
  for (std::uint32_t warp = rank * warps_; warp < (rank + 1) * warps_; ++warp) {
    if (at(known, warp) != 0) return true;
  }
  return false;
}

void SharedWatch::exit(Exec* x) {
  const Who all{warp_of(x), kAllLanes, true};
  close(x, all);
  tell(x, exited_[x->block->rank], all);
  live_[x->block->rank] &= ~(1u << x->warp->index);
}

}  // namespace baton::sim
