#include "sim/engine/async/bulk_copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/engine/async/async_state.h"
#include "sim/engine/async/bad_copy.h"
#include "sim/engine/async/cp_async.h"
#include "sim/engine/async/tensor_copy.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kBulkUnit = 16;  // bulk copies move multiples of this many bytes

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
  bad_copy(x, i, lane,
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

const Insn* op_bulk_copy(Exec* x, const Insn* i) {
  const auto form = std::bit_cast<BulkForm>(i->imm);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t bytes = slot_at<std::uint32_t>(x, i->r[2])[lane];
    if (bytes % kBulkUnit != 0) {
      return bad_copy(
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
  if (!perform_arrivals(x, i, lane, block, offset)) return false;
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
