#include "sim/engine/judge/shared_watch.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace baton::sim {

void SharedWatchDeleter::operator()(SharedWatch* watch) const {
  delete watch;
}

SharedWatch::SharedWatch(std::uint32_t bytes, std::uint32_t warps, std::uint32_t blocks)
    : bytes_(bytes), warps_(warps), all_(warps * blocks), parties_(all_) {
  for (std::uint32_t rank = 0; rank < blocks; ++rank) {
    memories_.push_back(Memory(*this, rank));
    barriers_.emplace_back();
  }
  live_.resize(blocks);
  objects_.resize(blocks + 1);
}

void SharedWatch::begin() {
  std::fill(live_.begin(), live_.end(), warps_ == 32 ? UINT32_MAX : (1u << warps_) - 1);
  for (Memory& memory : memories_) memory.begin();
  index_.assign(all_, 0);
  clocks_.assign(all_, Clock(all_));
  for (auto& barriers : barriers_) barriers.fill({});
  for (Clock& object : objects_) object.clear();
  cluster_.clear();
  cluster_done_.clear();
  mbarriers_.clear();
  copies_.clear();
  reads_.clear();
  parties_ = all_;
  patience_ = 0;
}

std::uint32_t SharedWatch::at(const Clock& clock, std::uint32_t party) {
  return party < clock.size() ? clock[party] : 0;
}

void SharedWatch::raise(Clock& clock, std::uint32_t party, std::uint32_t index) {
  if (clock.size() <= party) clock.resize(party + 1);
  clock[party] = std::max(clock[party], index);
}

void SharedWatch::merge(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t p = 0; p < from.size(); ++p) into[p] = std::max(into[p], from[p]);
}

// What the warp did, and knows of others, becomes known to who merges the object.
void SharedWatch::join(Clock& object, std::uint32_t warp) {
  merge(object, clocks_[warp]);
  raise(object, warp, index_[warp]);
}

// The segment of the warp ends, and its next one begins.
void SharedWatch::close(Exec* x, std::uint32_t warp) {
  const std::uint32_t index = index_[warp]++;
  for (Memory& memory : memories_) {
    std::shared_ptr<Footprint> touched = memory.end(memory.open_[warp]);
    if (touched == nullptr) continue;
    memory.close(x, {warp, warp, index, clocks_[warp], std::move(touched)});
  }
  for (AllCopies* all : {&copies_, &reads_}) {
    if (all->empty()) continue;
    if (const auto copies = all->find(warp); copies != all->end()) {
      close_copies(x, copies->second, warp);
    }
  }
}

void SharedWatch::arrive(Exec* x, std::uint32_t barrier) {
  const std::uint32_t warp = warp_of(x);
  close(x, warp);
  join(barriers_[x->block->rank][barrier], warp);
}

void SharedWatch::release(std::uint32_t rank, std::uint32_t barrier, std::uint32_t warps) {
  Clock& object = barriers_[rank][barrier];
  for (std::uint32_t left = warps; left != 0; left &= left - 1) {
    merge(clocks_[rank * warps_ + static_cast<std::uint32_t>(std::countr_zero(left))], object);
  }
  object.clear();
  if (memories_.size() == 1 && warps == live_[0] && parties_ == all_) {
    memories_[0].forget(index_);  // all know of all
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
  Clock floor(parties_, UINT32_MAX);
  for (std::uint32_t warp = 0; warp < all_; ++warp) {
    if (!is_live(warp)) continue;
    for (std::uint32_t p = 0; p < parties_; ++p) {
      if (p != warp) floor[p] = std::min(floor[p], at(clocks_[warp], p));
    }
  }
  kept = 0;
  for (Memory& memory : memories_) {
    memory.forget(floor);
    kept += memory.closed_.size();
  }
  patience_ = memories_.size() == 1 ? 0 : 2 * kept + all_;
}

void SharedWatch::synchronize(Exec* x, std::uint32_t object) {
  const std::uint32_t warp = warp_of(x);
  Clock& clock = objects_[std::min<std::size_t>(object, objects_.size() - 1)];
  close(x, warp);
  merge(clocks_[warp], clock);
  join(clock, warp);
}

void SharedWatch::arrive_mbarrier(Exec* x, const Place& mbarrier) {
  const std::uint32_t warp = warp_of(x);
  close(x, warp);
  join(mbarriers_[mbarrier].clock, warp);
}

void SharedWatch::leave_mbarrier(Exec* x, std::uint32_t offset) {
  const std::uint32_t warp = warp_of(x);
  close(x, warp);
  merge(clocks_[warp], mbarriers_[{x->block->rank, offset}].clock);
  forget_ordered();
}

void SharedWatch::arrive_cluster(Exec* x) {
  const std::uint32_t warp = warp_of(x);
  close(x, warp);
  join(cluster_, warp);
}

void SharedWatch::complete_cluster() {
  merge(cluster_done_, cluster_);
  cluster_.clear();
}

void SharedWatch::leave_cluster(Exec* x, std::uint32_t rank, std::uint32_t warp) {
  const std::uint32_t one = rank * warps_ + warp;
  close(x, one);
  merge(clocks_[one], cluster_done_);
  forget_ordered();
}

void SharedWatch::exit(Exec* x) {
  const std::uint32_t warp = warp_of(x);
  close(x, warp);
  live_[x->block->rank] &= ~(1u << x->warp->index);
}

}  // namespace baton::sim
