#include "sim/engine/async/mbarrier.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include "sim/engine/async/bulk_copy.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr int kExpectedShift = 20;
constexpr int kBytesShift = 40;
constexpr int kValidShift = 62;
constexpr int kOddShift = 63;
constexpr std::int32_t kBytesBias = 1 << 21;
constexpr std::uint32_t kSpins = 32;  // that an unsuccessful test counts for

std::uint64_t* word_of(BlockState& block, std::uint32_t offset) {
  return reinterpret_cast<std::uint64_t*>(block.shared.data() + offset);
}

const Insn* bad_mbarrier(Exec* x, const Insn* i, int lane, const std::string& message) {
  return fault(x, i, lane, CUDA_ERROR_LAUNCH_FAILED, driver::FindingKind::kBadMbarrier, message);
}

std::string name_of(const BlockState& block, std::uint32_t offset) {
  return fmt::format("the mbarrier at {:#x} of the shared memory of block ({}, {}, {})", offset,
                     block.index.x, block.index.y, block.index.z);
}

// The record of the mbarrier there; null after a fault where there is none, or where something else
// wrote over it.
MbarrierRecord* find(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset) {
  auto& records = block.async.mbarriers;
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const MbarrierRecord& one) { return one.offset == offset; });
  if (found == records.end()) {
    bad_mbarrier(x, i, lane,
                 fmt::format("uses {}, which was never initialized (or was invalidated)",
                             name_of(block, offset)));
    return nullptr;
  }
  if (*word_of(block, offset) != found->bits) {
    bad_mbarrier(x, i, lane,
                 fmt::format("uses {}, whose bytes were overwritten by something other than an "
                             "operation on an mbarrier",
                             name_of(block, offset)));
    return nullptr;
  }
  return &*found;
}

void store(BlockState& block, MbarrierRecord& record, const Mbarrier& state) {
  record.bits = state.packed();
  *word_of(block, record.offset) = record.bits;
}

// Ends the phase where nothing more is to come.
void settle(BlockState& block, MbarrierRecord& record, Mbarrier state) {
  if (state.pending == 0 && state.bytes == 0) {
    state.odd = !state.odd;
    state.pending = state.expected;
    ++record.phase;
    block.cluster->time_outs = 0;
    if (block.watch != nullptr) block.watch->complete_mbarrier({block.rank, record.offset});
    store(block, record, state);
    wake_waiters(block, record.offset);
    return;
  }
  store(block, record, state);
  if (state.pending == 0) wake_waiters(block, record.offset);  // copies can end the phase now
}

bool arrive(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
            std::uint32_t count, bool drops, bool completes) {
  MbarrierRecord* record = find(x, i, lane, block, offset);
  if (record == nullptr) return false;
  Mbarrier state = Mbarrier::of(record->bits);
  if (count == 0 || count > state.pending) {
    bad_mbarrier(
        x, i, lane,
        fmt::format("arrives {} times at {}, whose phase {} awaits {} of {} arrivals", count,
                    name_of(block, offset), record->phase, state.pending, state.expected));
    return false;
  }
  state.pending -= count;
  if (drops) state.expected -= count;
  if (!completes && state.pending == 0) {
    bad_mbarrier(x, i, lane,
                 fmt::format("arrives by .noComplete at {} as the last of its phase {}",
                             name_of(block, offset), record->phase));
    return false;
  }
  settle(block, *record, state);
  return true;
}

// `bytes` more are to come, or fewer.
bool count_bytes(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
                 std::int64_t bytes, bool settles) {
  MbarrierRecord* record = find(x, i, lane, block, offset);
  if (record == nullptr) return false;
  Mbarrier state = Mbarrier::of(record->bits);
  const std::int64_t sum = state.bytes + bytes;
  if (std::abs(sum) > std::int64_t{kMostArrivals}) {
    bad_mbarrier(x, i, lane,
                 fmt::format("{} {} bytes at {}, of which {} are to come: the count goes to {}",
                             bytes > 0 ? "announces" : "completes", std::abs(bytes),
                             name_of(block, offset), state.bytes, kMostArrivals));
    return false;
  }
  state.bytes = static_cast<std::int32_t>(sum);
  if (settles) {
    settle(block, *record, state);
  } else {
    store(block, *record, state);
  }
  return true;
}

bool initialize(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
                std::uint32_t count) {
  if (count == 0 || count > kMostArrivals) {
    bad_mbarrier(x, i, lane,
                 fmt::format("initializes {} with {} arrivals; 1 to {} are possible",
                             name_of(block, offset), count, kMostArrivals));
    return false;
  }
  auto& records = block.async.mbarriers;
  std::erase_if(records, [&](const MbarrierRecord& one) {
    return one.offset < offset + 8 && offset < one.offset + 8;
  });
  const Warp& warp = *x->warp;
  records.push_back({offset, 0, 0, 0, i, warp.frames[warp.fragments[warp.current].frame].function});
  store(block, records.back(), {count, count, 0, false});
  mark_shared(x, block, offset, 8);
  return true;
}

// What the operands of one lane say.
struct Operands {
  std::uint64_t address;
  std::uint64_t value;
  std::uint32_t bytes;
};

Operands operands_of(Exec* x, const Insn* i, int lane, MbarrierOp op) {
  const bool wide = op == MbarrierOp::kTest || op == MbarrierOp::kTry;
  Operands operands{};
  operands.address = slot_at<std::uint64_t>(x, i->r[1])[lane];
  operands.value = i->r[2] == 0 ? 1
                   : wide       ? slot_at<std::uint64_t>(x, i->r[2])[lane]
                                : slot_at<std::uint32_t>(x, i->r[2])[lane];
  operands.bytes = i->r[3] == 0 ? 0 : slot_at<std::uint32_t>(x, i->r[3])[lane];
  return operands;
}

void take_order(Exec* x, const Insn* i, std::uint32_t lanes, const MbarrierRecord& record) {
  x->block->remote = {};  // it may have learnt that the others are done with its memory
  const bool is_relaxed = (i->mode & kMbarrierRelaxed) != 0;
  // A relaxed test orders nothing until the next fence.
  (is_relaxed ? x->warp->seen : x->warp->ordered).add(record.ordered, lanes);
  if (x->block->watch != nullptr) {
    x->block->watch->leave_mbarrier(x, record.offset, is_relaxed);
  }
}

// Whether the lane is told that the phase before still goes on. A wait may say so of a phase that
// is over, too, unless what the phase tells was known to the lane: a single one orders nothing. Who
// waits in a loop asks again, and is told the truth.
bool is_put_off(Exec* x, const Insn* i, int lane, const MbarrierRecord& record) {
  SharedWatch* const watch = x->block->watch;
  if (watch == nullptr) return false;
  const std::uint32_t mine = std::uint32_t{1} << lane;
  std::vector<PutOff>& all = warp_async(*x->block, x->warp->index).put_off;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const PutOff& one) { return one.offset == record.offset; });
  const bool is_again =
      found != all.end() && found->phase == record.phase && (found->lanes & mine) != 0;
  if (is_again) {
    found->lanes &= ~mine;
    return false;
  }
  if (watch->knows_phases(x, record.offset, (i->mode & kMbarrierRelaxed) != 0)) return false;
  PutOff& one = found != all.end() ? *found : all.emplace_back();
  const std::uint32_t others =
      one.offset == record.offset && one.phase == record.phase ? one.lanes : 0;
  one = {record.offset, record.phase, others | mine};
  return true;
}

// The object is memory, too: it must be initialised before anybody uses it.
void watch_object(Exec* x, const Insn* i, int lane, const SharedPlace& place, AccessKind touch) {
  if (x->block->watch == nullptr) return;
  SharedWatch::Access access;
  access.insn = i;
  access.offset = place.offset;
  access.bytes = 8;
  access.first_lane = static_cast<std::uint8_t>(lane);
  access.lanes = std::uint32_t{1} << lane;
  access.touch = touch;
  x->block->watch->open(place.block->rank, x).note(access);
}

bool update(Exec* x, const Insn* i, int lane, MbarrierOp op, const Operands& operands) {
  const SharedPlace place = mbarrier_place(x, i, lane, operands.address);
  if (place.block == nullptr) return false;
  BlockState& block = *place.block;
  const auto value = static_cast<std::uint32_t>(operands.value);
  const bool makes = op == MbarrierOp::kInit || op == MbarrierOp::kInval;
  watch_object(x, i, lane, place, makes ? AccessKind::kWrite : AccessKind::kUpdate);
  switch (op) {
    case MbarrierOp::kInit:
      return initialize(x, i, lane, block, place.offset, value);
    case MbarrierOp::kInval: {
      if (find(x, i, lane, block, place.offset) == nullptr) return false;
      std::erase_if(block.async.mbarriers,
                    [&](const MbarrierRecord& one) { return one.offset == place.offset; });
      return true;
    }
    case MbarrierOp::kExpect:
      return count_bytes(x, i, lane, block, place.offset, value, false);
    case MbarrierOp::kComplete:
      return count_bytes(x, i, lane, block, place.offset, -std::int64_t{value}, true);
    default:
      break;
  }
  if ((i->mode & kMbarrierExpects) != 0 &&
      !count_bytes(x, i, lane, block, place.offset, operands.bytes, false)) {
    return false;
  }
  if (i->r[0] != 0) {
    slot_at<std::uint64_t>(x, i->r[0])[lane] = *word_of(block, place.offset);
  }
  // What is released for its own block tells another one nothing.
  const bool is_for_others = (i->mode & kMbarrierOfBlock) == 0 || &block == x->block;
  order_arrival(x, lane, block, place.offset, (i->mode & kMbarrierRelaxed) != 0 || !is_for_others);
  return arrive(x, i, lane, block, place.offset, value, op == MbarrierOp::kArriveDrop,
                (i->mode & kMbarrierNoComplete) == 0);
}

// Whether the phase that the operand means is over: it is the present one or the one before.
const Insn* test(Exec* x, const Insn* i, MbarrierOp op) {
  const bool may_wait = op == MbarrierOp::kTry || op == MbarrierOp::kTryParity;
  const bool by_parity = op == MbarrierOp::kTestParity || op == MbarrierOp::kTryParity;
  std::uint32_t over = 0;
  std::uint32_t put_off = 0;
  SharedPlace last;
  bool same = true;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Operands operands = operands_of(x, i, lane, op);
    const SharedPlace place = mbarrier_place(x, i, lane, operands.address);
    if (place.block == nullptr) return nullptr;
    if (place.block != x->block) {
      return bad_mbarrier(x, i, lane,
                          fmt::format("waits at {}: only a block's own mbarriers can be waited for",
                                      name_of(*place.block, place.offset)));
    }
    same = same && (last.block == nullptr || last.offset == place.offset);
    const bool is_first = last.block == nullptr || last.offset != place.offset;
    if (is_first) watch_object(x, i, lane, place, AccessKind::kStrongRead);
    last = place;
    const bool of_odd = by_parity ? (operands.value & 1) != 0 : Mbarrier::of(operands.value).odd;
    const auto is_under_way = [&](const MbarrierRecord& record) {
      return Mbarrier::of(record.bits).odd == of_odd;
    };
    const MbarrierRecord* record = find(x, i, lane, *place.block, place.offset);
    if (record == nullptr) return nullptr;
    // All lanes may wait for one; what the phase awaits happens when the first looks.
    if (is_first && is_under_way(*record)) {
      if (!perform_awaited(x, i, lane, *place.block, place.offset)) return nullptr;
      record = find(x, i, lane, *place.block, place.offset);
      if (record == nullptr) return nullptr;
    }
    if (is_under_way(*record)) continue;
    if (is_put_off(x, i, lane, *record)) {
      put_off |= std::uint32_t{1} << lane;
      continue;
    }
    over |= std::uint32_t{1} << lane;
    take_order(x, i, std::uint32_t{1} << lane, *record);
  }
  Fragment& fragment = x->warp->fragment();
  const bool timed_out = fragment.timed_out;
  fragment.timed_out = false;
  const bool goes_on = (over | put_off) != 0;
  if (!goes_on && may_wait && same && !timed_out) {
    fragment.wait = Wait::kMbarrier;
    fragment.members = last.offset;
    fragment.pc = i;
    fragment.from = x->from;
    return resume(x);
  }
  if (!goes_on) x->spin += kSpins;
  std::uint32_t& p = predicate_at(x, i->r[0]);
  p = (p & ~x->mask) | over;
  return i + 1;
}

}  // namespace

std::uint64_t Mbarrier::packed() const {
  return std::uint64_t{pending} | std::uint64_t{expected} << kExpectedShift |
         std::uint64_t{static_cast<std::uint32_t>(bytes + kBytesBias)} << kBytesShift |
         std::uint64_t{1} << kValidShift | std::uint64_t{odd ? 1u : 0u} << kOddShift;
}

Mbarrier Mbarrier::of(std::uint64_t bits) {
  Mbarrier state;
  state.pending = static_cast<std::uint32_t>(bits) & kMostArrivals;
  state.expected = static_cast<std::uint32_t>(bits >> kExpectedShift) & kMostArrivals;
  state.bytes =
      static_cast<std::int32_t>(bits >> kBytesShift & ((1u << (kValidShift - kBytesShift)) - 1)) -
      kBytesBias;
  state.odd = (bits >> kOddShift) != 0;
  return state;
}

const Insn* op_mbarrier(Exec* x, const Insn* i) {
  const auto op = static_cast<MbarrierOp>(i->mode & 0x0f);
  if (op >= MbarrierOp::kTest && op <= MbarrierOp::kTryParity) return test(x, i, op);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (op == MbarrierOp::kPendingCount) {
      const std::uint64_t state = slot_at<std::uint64_t>(x, i->r[1])[lane];
      slot_at<std::uint32_t>(x, i->r[0])[lane] = Mbarrier::of(state).pending;
      continue;
    }
    if (!update(x, i, lane, op, operands_of(x, i, lane, op))) return nullptr;
  }
  return i + 1;
}

std::optional<MbarrierOp> mbarrier_operation(const Insn* i) {
  if (i->fn != op_mbarrier && i->inner != op_mbarrier) return std::nullopt;
  return static_cast<MbarrierOp>(i->mode & 0x0f);
}

bool arrive_at(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
               std::uint32_t count) {
  return arrive(x, i, lane, block, offset, count, false, true);
}

bool complete_bytes(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset,
                    std::uint32_t bytes) {
  return count_bytes(x, i, lane, block, offset, -std::int64_t{bytes}, true);
}

void order_arrival(Exec* x, int lane, BlockState& block, std::uint32_t offset, bool is_relaxed) {
  const OrderedLanes& told = is_relaxed ? x->warp->released : x->warp->ordered;
  const OrderedLanes::Sources ordered = told.sources_of(std::uint32_t{1} << lane);
  for (MbarrierRecord& record : block.async.mbarriers) {
    if (record.offset == offset) record.ordered |= ordered;
  }
  if (block.watch != nullptr) block.watch->arrive_mbarrier(x, {block.rank, offset}, is_relaxed);
}

const MbarrierRecord* record_of(const BlockState& block, std::uint32_t offset) {
  for (const MbarrierRecord& record : block.async.mbarriers) {
    if (record.offset == offset) return &record;
  }
  return nullptr;
}

bool expect_arrival(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset) {
  MbarrierRecord* record = find(x, i, lane, block, offset);
  if (record == nullptr) return false;
  Mbarrier state = Mbarrier::of(record->bits);
  if (state.pending == kMostArrivals) {
    bad_mbarrier(x, i, lane,
                 fmt::format("{} awaits {} arrivals, and no more are possible",
                             name_of(block, offset), state.pending));
    return false;
  }
  ++state.pending;
  store(block, *record, state);
  return true;
}

SharedPlace mbarrier_place(Exec* x, const Insn* i, int lane, std::uint64_t address) {
  constexpr std::uint32_t kBytes = 8;
  if (window_of(address) != window_number(kSharedWindow)) {
    bad_mbarrier(x, i, lane,
                 fmt::format("an mbarrier at {:#x}, which is not shared memory", address));
    return {};
  }
  if (!check_span(x, i, lane, {Space::kGeneric, address, kBytes, kBytes}, true)) return {};
  return {x->block->cluster->blocks[rank_of(address)].get(),
          static_cast<std::uint32_t>(address) & ((1u << kRankShift) - 1)};
}

std::string describe_wait(const BlockState& block, std::uint32_t offset) {
  for (const MbarrierRecord& record : block.async.mbarriers) {
    if (record.offset != offset) continue;
    const Mbarrier state = Mbarrier::of(record.bits);
    return fmt::format(
        "waits at the mbarrier at {:#x} of its shared memory, whose phase {} awaits {} of {} "
        "arrivals and {} bytes",
        offset, record.phase, state.pending, state.expected, state.bytes);
  }
  return fmt::format("waits at the mbarrier at {:#x} of its shared memory", offset);
}

void wake_waiters(BlockState& block, std::uint32_t offset) {
  for (Warp& warp : block.warps) {
    for (std::uint32_t k = 0; k < warp.count; ++k) {
      Fragment& fragment = warp.fragments[k];
      if (fragment.wait == Wait::kMbarrier && fragment.members == offset) {
        fragment.wait = Wait::kNone;
      }
    }
  }
}

bool time_out_waits(ClusterState& cluster) {
  // How often in a row, with no phase of any mbarrier ending in between. Each stands for as long as
  // hardware suspends a thread for (PTX leaves that open).
  constexpr std::uint32_t kMostTimeOuts = 1000;
  if (++cluster.time_outs > kMostTimeOuts) return false;
  bool any = false;
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      for (std::uint32_t k = 0; k < warp.count; ++k) {
        Fragment& fragment = warp.fragments[k];
        if (fragment.wait != Wait::kMbarrier) continue;
        fragment.wait = Wait::kNone;
        fragment.timed_out = true;
        any = true;
      }
    }
    if (any) block->clock += std::uint64_t{1} << 21;  // about a millisecond of cycles
  }
  return any;
}

}  // namespace baton::sim
