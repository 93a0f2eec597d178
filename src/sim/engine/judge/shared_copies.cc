// Asynchronous copies as parties of their own in the order of a cluster's shared memory.

#include <algorithm>
#include <utility>

#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

constexpr std::size_t kMostGroups = 64;      // of which it is remembered where they end
constexpr std::size_t kMostSetsOfLanes = 8;  // of a warp; what further ones ask for is all lanes'

}  // namespace

// Lanes that wait together mostly ask together, too.
SharedWatch::Copies& SharedWatch::copies_of(AllCopies& all, std::uint32_t warp,
                                            std::uint32_t lanes) {
  if (const auto found = all.find({warp, lanes}); found != all.end()) return found->second;
  std::size_t sets = 0;
  each_of(all, warp, kAllLanes, [&](const Copies&) { ++sets; });
  Copies& copies = all[{warp, sets < kMostSetsOfLanes ? lanes : kAllLanes}];
  if (copies.party == 0) copies.party = parties_++;
  return copies;
}

const SharedWatch::Copies& SharedWatch::note_copies(Exec* x, AllCopies& all, std::uint32_t lanes,
                                                    std::span<const Access> accesses) {
  const Who executing = who(x);
  const std::uint32_t warp = executing.warp;
  Memory& memory = memories_[x->block->rank];
  Copies& copies = copies_of(all, warp, lanes);
  // The copy of each lane comes after all that the lane did so far. Nothing orders it before the
  // next accesses.
  if (memory.open_[warp].touched_ != nullptr) close(x, executing);
  for (const Access& access : accesses) {
    if (memory.shift_ != 0 && ((access.offset | access.bytes | access.stride) & 3) != 0) {
      memory.refine();
    }
    // Copies that write the same place are compared with each other, as segments are.
    each_of(all, warp, kAllLanes, [&](Copies& one) {
      if (one.open == nullptr || !memory.is_written(*one.open, access)) return;
      close_copies(x, one, warp, &all == &reads_);
    });
  }
  if (copies.open == nullptr) {
    copies.open = memory.take();
    copies.start = known_to(executing);
    merge(copies.start.over, waited_[warp]);
    copies.asked = index_[warp];
    if (!executing.is_whole) raise(copies.start.over, party_of(x, executing), index_[warp]);
  }
  for (const Access& access : accesses) memory.touch(*copies.open, access);
  return copies;
}

void SharedWatch::close_copies(Exec* x, Copies& copies, std::uint32_t warp, bool reads) {
  if (copies.open == nullptr) return;
  memories_[warp / warps_].close(x, {.party = copies.party,
                                     .warp = warp,
                                     .index = copies.index++,
                                     .start = std::move(copies.start),
                                     .touched = std::move(copies.open),
                                     .needs_fence = reads,
                                     .asked = copies.asked});
  copies.open = nullptr;
}

void SharedWatch::commit(Exec* x, AllCopies& all) {
  const std::uint32_t warp = warp_of(x);
  each_of(all, warp, x->mask, [&](Copies& copies) {
    close_copies(x, copies, warp, &all != &copies_);
    copies.groups.push_back(copies.index);
    ++copies.committed;
    if (copies.groups.size() > kMostGroups) copies.groups.pop_front();
  });
}

void SharedWatch::wait(Exec* x, AllCopies& all, std::uint32_t left) {
  const Who executing = who(x);
  bool is_closed = false;
  each_of(all, executing.warp, executing.lanes, [&](const Copies& copies) {
    if (!is_closed) close(x, executing);
    is_closed = true;
    std::uint32_t over = copies.index;
    if (left != kAllGroups) {
      if (copies.groups.size() <= left) return;
      over = copies.groups[copies.groups.size() - 1 - left];
    }
    const bool is_each_for_itself = &all == &copies_ && executing.is_whole;
    raise(is_each_for_itself ? waited_[executing.warp] : knowledge_of(executing).over, copies.party,
          over);
  });
}

CopyParty SharedWatch::note_copies(Exec* x, std::span<const Access> accesses) {
  const Who executing = who(x);
  const std::uint32_t lanes = executing.is_whole ? kAllLanes : executing.lanes;
  const Copies& copies = note_copies(x, copies_, lanes, accesses);
  return {copies.party, copies.index, false};
}

void SharedWatch::commit_copies(Exec* x) {
  commit(x, copies_);
}

void SharedWatch::wait_copies(Exec* x, std::uint32_t left) {
  wait(x, copies_, left);
}

void SharedWatch::arrive_copies(Exec* x, std::uint32_t offset) {
  const std::uint32_t warp = warp_of(x);
  each_of(copies_, warp, x->mask, [&](Copies& copies) {
    close_copies(x, copies, warp, false);
    raise(mbarriers_[{x->block->rank, offset}].arriving.over, copies.party, copies.index);
  });
}

void SharedWatch::note_bulk_read(Exec* x, const Access& access) {
  note_copies(x, reads_, std::uint32_t{1} << access.first_lane, {&access, 1});
}

CopyParty SharedWatch::note_bulk_store(Exec* x, int lane) {
  Copies& stores = copies_of(stores_, warp_of(x), std::uint32_t{1} << lane);
  return {stores.party, stores.index++};
}

void SharedWatch::note_product(Exec* x, const Access& access,
                               std::span<const std::uint32_t> chunks) {
  const std::uint32_t warp = warp_of(x);
  Memory& memory = memories_[x->block->rank];
  Copies& products = products_[{warp}];
  if (products.party == 0) products.party = parties_++;
  // What comes before an operation may be more than what came before the last one of the group.
  if (memory.open_[warp].touched_ != nullptr) close(x, who(x));
  Clock before = clocks_[warp];
  before.over[warp] = at(products.start.over, warp);
  if (products.open != nullptr && !covers(products.start, before)) {
    close_copies(x, products, warp, true);
  }
  if (products.open == nullptr) {
    products.open = memory.take();
    products.start = clocks_[warp];
    raise(products.start.over, warp, index_[warp]);
  }
  memory.touch_chunks(*products.open, access, chunks);
}

// A group without operations of a warp counts, too, as it does for the instructions.
void SharedWatch::commit_products(Exec* x) {
  products_.try_emplace({warp_of(x)});
  commit(x, products_);
}

void SharedWatch::wait_products(Exec* x, std::uint64_t groups) {
  const std::uint32_t warp = warp_of(x);
  const std::uint32_t first =
      warp / warps_ * warps_ + x->warp->index / kWarpsOfGroup * kWarpsOfGroup;
  close(x, who(x));
  for (std::uint32_t other = first; other < first + kWarpsOfGroup; ++other) {
    const auto found = products_.find({other});
    if (found == products_.end() || found->second.party == 0 || groups == 0) continue;
    const Copies& products = found->second;
    // The oldest that is still known is over where an older one is asked for, or before it.
    const std::uint64_t known = products.committed - products.groups.size();
    if (groups <= known) continue;
    const auto at = static_cast<std::size_t>(groups - known - 1);
    raise(clocks_[warp].over, products.party, products.groups[at]);
  }
}

void SharedWatch::commit_bulk(Exec* x) {
  commit(x, reads_);
  commit(x, stores_);
}

void SharedWatch::wait_bulk(Exec* x, std::uint32_t left, bool for_reads) {
  wait(x, reads_, left);
  if (!for_reads) wait(x, stores_, left);
}

std::uint32_t SharedWatch::note_bulk(Exec* x, std::uint32_t rank, const Access& access,
                                     const Place& mbarrier, bool is_of_async_proxy) {
  const Who executing = who(x);
  Mbarrier& awaiting = mbarriers_[mbarrier];
  if (awaiting.party == 0) awaiting.party = parties_++;
  close(x, executing);
  Memory& memory = memories_[rank];
  if (memory.shift_ != 0 && ((access.offset | access.bytes) & 3) != 0) memory.refine();
  std::shared_ptr<Footprint> touched = memory.take();
  memory.touch(*touched, access);
  Clock start = known_to(executing);
  merge(start.over, waited_[executing.warp]);
  if (!executing.is_whole) {
    raise(start.over, party_of(x, executing), index_[executing.warp]);
  }
  const bool needs_fence =
      is_of_async_proxy && (reads_only(access.touch) || settings_.keeps_to_model);
  memory.close(x, {.party = awaiting.party,
                   .warp = executing.warp,
                   .index = awaiting.copies,
                   .start = std::move(start),
                   .touched = std::move(touched),
                   .needs_fence = needs_fence,
                   .asked = index_[executing.warp]});
  return ++awaiting.copies;
}

void SharedWatch::complete_bulk(const Place& mbarrier, std::uint32_t ticket) {
  Mbarrier& awaiting = mbarriers_[mbarrier];
  raise(awaiting.arriving.over, awaiting.party, ticket);
}

CopyParty SharedWatch::copy_of(const Place& mbarrier, std::uint32_t ticket) const {
  const auto found = mbarriers_.find(mbarrier);
  return {found == mbarriers_.end() ? 0 : found->second.party, ticket - 1};
}

}  // namespace baton::sim
