#include "sim/engine/async/cp_async.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "sim/engine/async/async_state.h"
#include "sim/engine/async/bad_copy.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

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
  bad_copy(
      x, i, lane,
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

}  // namespace

bool perform_arrivals(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset) {
  if (block.async.arrivals == 0) return true;
  for (WarpAsync& warp : block.async.warps) {
    if (!perform_arrivals(x, i, lane, block, warp, offset)) return false;
  }
  return true;
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
      return bad_copy(x, i, lane,
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
      return bad_copy(x, i, lane, "arrives at an mbarrier of another block");
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

}  // namespace baton::sim
