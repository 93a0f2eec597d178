#include "sim/engine/async/async_copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/engine/async/async_state.h"
#include "sim/engine/async/tensor_copy.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {

void AsyncState::clear() {
  mbarriers.clear();
  warps.clear();
  arriving.clear();
  leaving.clear();
  maps.clear();
  wgmma.clear();
  arrivals = 0;
}

WarpAsync& warp_async(BlockState& block, std::uint32_t warp) {
  AsyncState& async = block.async;
  if (async.warps.empty()) async.warps.resize(block.warps.size());
  return async.warps[warp];
}

namespace {

// The most copies that a warp, or a block, has under way. With one more, the oldest is done early.
constexpr std::size_t kMostUnderWay = 1024;
constexpr std::uint32_t kBulkUnit = 16;  // bulk copies move multiples of this many bytes

const Insn* wrong(Exec* x, const Insn* i, int lane, const std::string& message) {
  return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadCopy, message);
}

// The offset in the executing block's shared memory that a generic address means; false after a
// fault.
bool own_place(Exec* x, const Insn* i, int lane, std::uint64_t address, std::uint32_t bytes,
               std::uint32_t* offset) {
  const std::uint64_t at = address - kSharedWindow - x->shared.base;
  if (at < x->shared.size && x->shared.size - at >= bytes && at % bytes == 0) {
    *offset = static_cast<std::uint32_t>(at);
    return true;
  }
  if (!check_span(x, i, lane, {Space::kGeneric, address, bytes, bytes}, true)) return false;
  wrong(x, i, lane,
        fmt::format("copies to {:#x}, which is not the shared memory of its own block", address));
  return false;
}

void perform(Exec* x, BlockState& block, ThreadCopy& copy, std::uint32_t lanes) {
  for (std::uint32_t left = lanes & copy.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::memcpy(block.shared.data() + copy.to[lane], copy.data[lane].data(), copy.bytes);
    mark_shared(x, block, copy.to[lane], copy.bytes);
  }
  copy.lanes &= ~lanes;
}

void drop_done(WarpAsync& warp) {
  while (!warp.copies.empty() && warp.copies.front().lanes == 0) warp.copies.pop_front();
}

// Lets the arrivals of cp.async.mbarrier.arrive at one mbarrier happen, by one warp, and before
// them the copies that they come after.
bool perform_arrivals(Exec* x, const Insn* i, int lane, BlockState& block, WarpAsync& warp,
                      std::uint32_t offset) {
  std::vector<std::uint32_t> due(warp.copies.size());
  std::uint32_t lanes = 0;  // that arrive further on
  for (std::size_t k = warp.copies.size(); k-- > 0;) {
    const ThreadCopy& copy = warp.copies[k];
    if (copy.bytes != 0) {
      due[k] = copy.lanes & lanes;
      continue;
    }
    for (std::uint32_t left = copy.lanes; left != 0; left &= left - 1) {
      const int l = std::countr_zero(left);
      if (copy.to[static_cast<std::size_t>(l)] == offset) due[k] |= std::uint32_t{1} << l;
    }
    lanes |= due[k];
  }
  if (lanes == 0) return true;
  for (std::size_t k = 0; k < due.size(); ++k) {
    ThreadCopy& copy = warp.copies[k];
    if (copy.bytes != 0) {
      perform(x, block, copy, due[k]);
      continue;
    }
    copy.lanes &= ~due[k];
    for (std::uint32_t left = due[k]; left != 0; left &= left - 1) {
      --block.async.arrivals;
      if (!arrive_at(x, i, lane, block, offset, 1)) return false;
    }
  }
  drop_done(warp);
  return true;
}

// Lets the oldest happen where too much is under way. False after a fault.
bool trim(Exec* x, const Insn* i, WarpAsync& warp) {
  if (warp.copies.size() <= kMostUnderWay) return true;
  ThreadCopy& oldest = warp.copies.front();
  if (oldest.bytes == 0) {
    const std::uint32_t offset =
        oldest.to[static_cast<std::size_t>(std::countr_zero(oldest.lanes))];
    return perform_arrivals(x, i, std::countr_zero(x->mask), *x->block, warp, offset);
  }
  perform(x, *x->block, oldest, kAllLanes);
  drop_done(warp);
  return true;
}

void copy_masked(std::byte* to, const std::byte* from, std::uint32_t bytes, std::uint32_t mask) {
  for (std::uint32_t k = 0; k < bytes; ++k) {
    if ((mask >> k % kBulkUnit & 1) != 0) to[k] = from[k];
  }
}

void read_source(Exec* x, BulkCopy& copy) {
  if (copy.has_data || copy.from.bytes == 0) return;
  copy.has_data = true;
  const std::byte* from = span_place(x, copy.from, false);
  if (from != nullptr) copy.data.assign(from, from + copy.from.bytes);
}

void perform(Exec* x, BulkCopy& copy) {
  if (copy.tile != nullptr) return perform_tile(x, copy);
  const std::byte* from = copy.has_data ? copy.data.data() : span_place(x, copy.from, false);
  const bool missing = from == nullptr || (copy.has_data && copy.data.size() < copy.to.bytes);
  std::byte* to = missing ? nullptr : span_place(x, copy.to, true);
  if (to == nullptr) return;
  if (copy.reduce) {
    copy.reduce(to, from, copy.to.bytes);
  } else if (copy.byte_mask == 0xffff) {
    std::memmove(to, from, copy.to.bytes);
  } else {
    copy_masked(to, from, copy.to.bytes, copy.byte_mask);
  }
}

// What one block sends into the shared memory of another one, or its own, goes through the cluster:
// an H200 refuses it (715) in a grid that was launched without one. False after a fault.
bool goes_through_cluster(Exec* x, const Insn* i, int lane) {
  if (x->grid->launch.explicit_cluster) return true;
  wrong(x, i, lane,
        "sends to the shared memory of a cluster, in a grid that was launched without clusters");
  return false;
}

// One thread's part of a copy in bulk, in the shared memory that the span lies in.
SharedWatch::Access bulk_access(const BulkCopy& copy, int lane, const MemorySpan& span,
                                AccessKind touch) {
  SharedWatch::Access access;
  access.insn = copy.insn;
  access.offset = static_cast<std::uint32_t>(span.address & ((1u << kRankShift) - 1));
  access.bytes = access.stride = span.bytes;
  access.first_lane = static_cast<std::uint8_t>(lane);
  access.touch = touch;
  if (touch == AccessKind::kUpdate) access.element = copy.reduce.element;
  return access;
}

std::uint32_t bytes_of(const BulkCopy& copy) {
  return copy.tile != nullptr ? copy.tile->bytes() : copy.to.bytes;
}

// Shows what a copy reads or writes of global memory to who looks for races there.
void watch_global_side(Exec* x, int lane, const BulkCopy& copy, const CopyParty* party) {
  const bool reads = copy.to.bytes != 0 && copy.to.space == Space::kGeneric;
  const AccessKind touch = reads         ? AccessKind::kRead
                           : copy.reduce ? AccessKind::kUpdate
                                         : AccessKind::kWrite;
  if (copy.tile == nullptr) {
    return watch_copy(x, copy.insn, lane, reads ? copy.from : copy.to, touch, party);
  }
  for (const TensorTile::Run& run : copy.tile->runs) {
    watch_copy(x, copy.insn, lane, {Space::kGlobal, run.address, run.bytes, 1}, touch, party);
  }
}

// Shows what a copy will do to who looks for races. What is sent to several blocks is read for each
// of them.
void watch_arriving(Exec* x, int lane, BulkCopy* copy, const SharedPlace& mbarrier) {
  const bool has_source = copy->tile != nullptr || copy->from.bytes != 0;
  SharedWatch* watch = x->block->watch;
  if (watch == nullptr) {
    if (has_source) watch_global_side(x, lane, *copy, nullptr);
    return;
  }
  const SharedWatch::Place awaits{mbarrier.block->rank, mbarrier.offset};
  const auto note = [&](const MemorySpan& span, AccessKind touch) {
    const bool is_shared = window_of(span.address) == window_number(kSharedWindow);
    if (span.bytes == 0 || span.space != Space::kGeneric || !is_shared) return;
    copy->ticket = watch->note_bulk(x, rank_of(span.address), bulk_access(*copy, lane, span, touch),
                                    awaits, has_source);
  };
  note(copy->from, AccessKind::kRead);
  note(copy->to, copy->reduce ? AccessKind::kUpdate : AccessKind::kWrite);
  if (!has_source) return;
  const CopyParty party = watch->copy_of(awaits, copy->ticket);
  watch_global_side(x, lane, *copy, &party);
}

// Hands a copy to the mbarrier that awaits it.
bool send(Exec* x, const Insn* i, int lane, BulkCopy copy, const SharedPlace& mbarrier) {
  std::vector<BulkCopy>& arriving = mbarrier.block->async.arriving;
  copy.mark = mbarrier.offset;
  watch_arriving(x, lane, &copy, mbarrier);
  arriving.push_back(std::move(copy));
  wake_waiters(*mbarrier.block, mbarrier.offset);
  return arriving.size() <= kMostUnderWay ||
         perform_awaited(x, i, lane, *mbarrier.block, arriving.front().mark);
}

std::uint64_t with_rank(std::uint64_t address, std::uint32_t rank) {
  constexpr std::uint64_t kMask = std::uint64_t{(1u << kRankBits) - 1} << kRankShift;
  return (address & ~kMask) | std::uint64_t{rank} << kRankShift;
}

}  // namespace

BulkCopy begin_copy(Exec* x, const Insn* i, int lane) {
  BulkCopy copy;
  copy.insn = i;
  copy.function = function_of(x);
  copy.rank = x->block->rank;
  copy.thread = x->warp->index * kLanes + static_cast<std::uint32_t>(lane);
  return copy;
}

bool send_to_shared(Exec* x, const Insn* i, int lane, const BulkCopy& copy, std::uint64_t mbarrier,
                    std::optional<std::uint32_t> ranks) {
  if (!ranks) {
    if (!check_span(x, i, lane, copy.to, true)) return false;
    const SharedPlace place = mbarrier_place(x, i, lane, mbarrier);
    return place.block != nullptr && send(x, i, lane, copy, place);
  }
  for (std::uint32_t left = *ranks & 0xffff; left != 0; left &= left - 1) {
    const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
    BulkCopy one = copy;
    one.to.address = with_rank(copy.to.address, rank);
    if (!check_span(x, i, lane, one.to, true)) return false;
    const SharedPlace place = mbarrier_place(x, i, lane, with_rank(mbarrier, rank));
    if (place.block == nullptr || !send(x, i, lane, std::move(one), place)) return false;
  }
  return true;
}

void send_to_global(Exec* x, int lane, BulkCopy copy) {
  if (SharedWatch* watch = x->block->watch; watch != nullptr) {
    watch->note_bulk_read(x, bulk_access(copy, lane, copy.from, AccessKind::kRead));
    const CopyParty party = watch->note_bulk_store(x, lane);
    watch_global_side(x, lane, copy, &party);
  } else {
    watch_global_side(x, lane, copy, nullptr);
  }
  copy.mark = warp_async(*x->block, x->warp->index).bulk_committed[static_cast<std::size_t>(lane)];
  std::vector<BulkCopy>& leaving = x->block->async.leaving;
  leaving.push_back(std::move(copy));
  if (leaving.size() > kMostUnderWay) {
    perform(x, leaving.front());
    leaving.erase(leaving.begin());
  }
}

const Insn* op_cp_async(Exec* x, const Insn* i) {
  const std::uint32_t bytes = i->mode & 0x1f;
  WarpAsync& warp = warp_async(*x->block, x->warp->index);
  ThreadCopy& copy = warp.copies.emplace_back();
  copy.insn = i;
  copy.function = function_of(x);
  copy.bytes = static_cast<std::uint8_t>(bytes);
  copy.group = warp.committed;
  const std::uint32_t ignored =
      (i->mode & kCopyHasIgnore) != 0
          ? predicate_at(x, i->r[3]) ^ ((i->negated & 8) != 0 ? kAllLanes : 0)
          : 0;
  std::array<std::uint32_t, kLanes> counts = {};  // of bytes that are read and watched
  std::uint32_t watched = 0;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto l = static_cast<std::size_t>(lane);
    const std::uint64_t to = slot_at<std::uint64_t>(x, i->r[0])[l];
    if (!own_place(x, i, lane, to, bytes, &copy.to[l])) return nullptr;
    std::uint32_t count = bytes;
    if ((i->mode & kCopyHasSize) != 0) count = slot_at<std::uint32_t>(x, i->r[2])[l];
    if (count > bytes) {
      return wrong(x, i, lane,
                   fmt::format("reads {} bytes for a copy that writes {}", count, bytes));
    }
    if ((ignored >> lane & 1) != 0) count = 0;
    if (count == 0) continue;  // zeros; nothing is read
    const std::uint64_t from = slot_at<std::uint64_t>(x, i->r[1])[l];
    const Region& known = x->regions[i->cache];
    const std::uint64_t offset = from - known.base;
    const std::byte* source = nullptr;
    bool is_known = true;
    if (known.written == nullptr && offset < known.size && known.size - offset >= count &&
        from % bytes == 0) {
      source = known.host + offset;
      x->bytes_read += count;
    } else {
      const MemorySpan span{Space::kGlobal, from, count, bytes};
      if (!check_span(x, i, lane, span, false)) return nullptr;
      is_known = refill_region(x, i, from);
      source = span_place(x, span, false);
    }
    if (!is_known || x->regions[i->cache].shadow != nullptr) {
      counts[l] = count;
      watched |= std::uint32_t{1} << lane;
    }
    std::memcpy(copy.data[l].data(), source, count);
  }
  copy.lanes = x->mask;
  CopyParty party{.is_bulk = false};
  if (x->block->watch != nullptr) party = watch_copies(x, i, copy.to.data(), x->mask, bytes);
  for (std::uint32_t left = watched; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t from = slot_at<std::uint64_t>(x, i->r[1])[lane];
    watch_copy(x, i, static_cast<int>(lane), {Space::kGlobal, from, counts[lane], bytes},
               AccessKind::kRead, &party);
  }
  return trim(x, i, warp) ? i + 1 : nullptr;
}

const Insn* op_cp_async_commit(Exec* x, const Insn* i) {
  WarpAsync& warp = warp_async(*x->block, x->warp->index);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    ++warp.committed[static_cast<std::size_t>(std::countr_zero(left))];
  }
  if (x->block->watch != nullptr) x->block->watch->commit_copies(x);
  return i + 1;
}

const Insn* op_cp_async_wait(Exec* x, const Insn* i) {
  WarpAsync& warp = warp_async(*x->block, x->warp->index);
  for (ThreadCopy& copy : warp.copies) {
    if (copy.bytes == 0) continue;
    std::uint32_t due = copy.lanes & x->mask;
    for (std::uint32_t left = i->imm < 0 ? 0 : due; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      const bool waits =
          copy.group[lane] + static_cast<std::uint64_t>(i->imm) < warp.committed[lane];
      if (!waits) due &= ~(std::uint32_t{1} << lane);
    }
    perform(x, *x->block, copy, due);
  }
  std::erase_if(warp.copies, [](const ThreadCopy& copy) { return copy.lanes == 0; });
  if (x->block->watch != nullptr) {
    x->block->watch->wait_copies(
        x, i->imm < 0 ? SharedWatch::kAllGroups : static_cast<std::uint32_t>(i->imm));
  }
  return i + 1;
}

const Insn* op_cp_async_arrive(Exec* x, const Insn* i) {
  ThreadCopy arrival;
  arrival.insn = i;
  arrival.function = function_of(x);
  arrival.no_inc = i->mode == 1;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const SharedPlace place = mbarrier_place(x, i, lane, slot_at<std::uint64_t>(x, i->r[0])[lane]);
    if (place.block == nullptr) return nullptr;
    if (place.block != x->block) {
      return wrong(x, i, lane, "arrives at an mbarrier of another block");
    }
    order_arrival(x, lane, *x->block, place.offset);
    if (x->block->watch != nullptr) x->block->watch->arrive_copies(x, place.offset);
    if (!arrival.no_inc && !expect_arrival(x, i, lane, *x->block, place.offset)) return nullptr;
    arrival.to[static_cast<std::size_t>(lane)] = place.offset;
    ++x->block->async.arrivals;
    wake_waiters(*x->block, place.offset);
  }
  arrival.lanes = x->mask;
  WarpAsync& warp = warp_async(*x->block, x->warp->index);
  warp.copies.push_back(arrival);
  return trim(x, i, warp) ? i + 1 : nullptr;
}

const Insn* op_bulk_copy(Exec* x, const Insn* i) {
  const auto form = std::bit_cast<BulkForm>(i->imm);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t bytes = slot_at<std::uint32_t>(x, i->r[2])[lane];
    if (bytes % kBulkUnit != 0) {
      return wrong(
          x, i, lane,
          fmt::format("copies {} bytes in bulk, which is not a multiple of {}", bytes, kBulkUnit));
    }
    if (bytes == 0) continue;
    if (form.to_shared && form.from_shared && !goes_through_cluster(x, i, lane)) return nullptr;
    BulkCopy copy = begin_copy(x, i, lane);
    if (form.reduces) copy.reduce = find_reduction(form.op, form.type);
    copy.from = {form.from_shared ? Space::kGeneric : Space::kGlobal,
                 slot_at<std::uint64_t>(x, i->r[1])[lane], bytes, kBulkUnit};
    copy.to = {form.to_shared ? Space::kGeneric : Space::kGlobal,
               slot_at<std::uint64_t>(x, i->r[0])[lane], bytes, kBulkUnit};
    if (!check_span(x, i, lane, copy.from, false)) return nullptr;
    if (form.to_shared) {
      std::optional<std::uint32_t> ranks;
      if (form.multicast) ranks = slot_at<std::uint32_t>(x, i->r[4])[lane];
      const std::uint64_t mbarrier = slot_at<std::uint64_t>(x, i->r[3])[lane];
      if (!send_to_shared(x, i, lane, copy, mbarrier, ranks)) return nullptr;
      continue;
    }
    if (!check_span(x, i, lane, copy.to, true)) return nullptr;
    if (form.masked) copy.byte_mask = slot_at<std::uint32_t>(x, i->r[4])[lane] & 0xffff;
    send_to_global(x, lane, std::move(copy));
  }
  return i + 1;
}

const Insn* op_bulk_commit(Exec* x, const Insn* i) {
  WarpAsync& warp = warp_async(*x->block, x->warp->index);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    ++warp.bulk_committed[static_cast<std::size_t>(std::countr_zero(left))];
  }
  if (x->block->watch != nullptr) x->block->watch->commit_bulk(x);
  return i + 1;
}

const Insn* op_bulk_wait(Exec* x, const Insn* i) {
  const WarpAsync& warp = warp_async(*x->block, x->warp->index);
  std::erase_if(x->block->async.leaving, [&](BulkCopy& copy) {
    const std::uint32_t lane = copy.thread % kLanes;
    if (copy.thread / kLanes != x->warp->index || (x->mask >> lane & 1) == 0) return false;
    if (copy.mark + static_cast<std::uint64_t>(i->imm) >= warp.bulk_committed[lane]) return false;
    // Data that an earlier .read made safe are written with the next one, so that what is on its
    // way stays bounded.
    if (i->mode == 1 && !copy.has_data) {
      read_source(x, copy);
      return false;
    }
    perform(x, copy);
    return true;
  });
  if (x->block->watch != nullptr) {
    x->block->watch->wait_bulk(x, static_cast<std::uint32_t>(i->imm), i->mode == 1);
  }
  return i + 1;
}

const Insn* op_async_store(Exec* x, const Insn* i) {
  const auto form = std::bit_cast<BulkForm>(i->imm);
  const std::uint32_t each = form.type == Type::kB64 || form.type == Type::kU64 ? 8 : 4;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (!goes_through_cluster(x, i, lane)) return nullptr;
    BulkCopy copy = begin_copy(x, i, lane);
    if (form.reduces) copy.reduce = find_reduction(form.op, form.type);
    const std::uint32_t bytes = each * form.elements;
    copy.to = {Space::kGeneric, slot_at<std::uint64_t>(x, i->r[0])[lane], bytes, bytes};
    copy.has_data = true;
    copy.data.resize(bytes);
    for (std::uint32_t k = 0; k < form.elements; ++k) {
      const std::byte* value = x->frame + i->r[2 + k] + static_cast<std::size_t>(lane) * each;
      std::memcpy(copy.data.data() + std::size_t{k} * each, value, each);
    }
    if (!check_span(x, i, lane, copy.to, true)) return nullptr;
    const SharedPlace place = mbarrier_place(x, i, lane, slot_at<std::uint64_t>(x, i->r[1])[lane]);
    if (place.block == nullptr || !send(x, i, lane, std::move(copy), place)) return nullptr;
  }
  return i + 1;
}

bool perform_awaited(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset) {
  AsyncState& async = block.async;
  if (async.arrivals != 0) {
    for (WarpAsync& warp : async.warps) {
      if (!perform_arrivals(x, i, lane, block, warp, offset)) return false;
    }
  }
  const auto is_due = [&](const BulkCopy& copy) { return copy.mark == offset; };
  const MbarrierRecord* record = record_of(block, offset);
  const Mbarrier state = record == nullptr ? Mbarrier{} : Mbarrier::of(record->bits);
  if (state.pending != 0) return true;
  std::int64_t under_way = 0;
  for (const BulkCopy& copy : async.arriving) under_way += is_due(copy) ? bytes_of(copy) : 0;
  // Where more is under way than the phase expects, any of the copies may be what is left behind.
  const bool all_in_phase = under_way <= state.bytes;
  const std::uint64_t phase = record == nullptr ? 0 : record->phase;
  for (;;) {
    const auto due = std::find_if(async.arriving.begin(), async.arriving.end(), is_due);
    if (due == async.arriving.end()) return true;
    BulkCopy copy = std::move(*due);
    async.arriving.erase(due);
    perform(x, copy);
    if (block.watch != nullptr && all_in_phase) {
      block.watch->complete_bulk({block.rank, offset}, copy.ticket);
    }
    if (!complete_bytes(x, i, lane, block, offset, bytes_of(copy))) return false;
    if (record_of(block, offset)->phase != phase) return true;
  }
}

void finish_async(Exec* x) {
  BlockState& block = *x->block;
  for (BulkCopy& copy : block.async.leaving) perform(x, copy);
  block.async.leaving.clear();
  for (const auto& other : block.cluster->blocks) {
    for (BulkCopy& copy : other->async.arriving) {
      if (copy.rank == block.rank) read_source(x, copy);
    }
  }
}

}  // namespace baton::sim
