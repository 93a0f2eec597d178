#include "sim/engine/run/barrier.h"

#include <fmt/core.h>

#include <bit>

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/report/findings.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

bool in_use(const BlockState& block, std::uint32_t id) {
  return (block.barriers_in_use >> id & 1) != 0;
}

// Of a barrier in use. A warp that arrived counts whole: lanes that do not exist or have exited
// cannot come.
bool complete(const BlockState& block, const Barrier& barrier) {
  if (barrier.expected == 0) return barrier.arrived >= block.live_threads;
  std::uint32_t threads = 0;
  for (std::size_t w = 0; w < block.warps.size(); ++w) {
    if (barrier.lanes[w] == 0) continue;
    threads += static_cast<std::uint32_t>(std::popcount(barrier.lanes[w] | ~block.warps[w].live));
  }
  return threads >= barrier.expected;
}

void write_result(Warp& warp, const Fragment& fragment, const Barrier& barrier) {
  const Insn* i = fragment.pending;
  std::byte* frame = warp.frames[fragment.frame].base;
  const auto kind = static_cast<BarrierKind>(i->mode);
  auto* words = reinterpret_cast<std::uint32_t*>(frame + i->r[0]);
  if (kind == BarrierKind::kRedPopc) {
    for (int l = 0; l < kLanes; ++l) {
      if (fragment.mask >> l & 1) words[l] = barrier.count;
    }
    return;
  }
  const bool holds = kind == BarrierKind::kRedAnd ? barrier.all : barrier.any;
  *words = (*words & ~fragment.mask) | (holds ? fragment.mask : 0);
}

void release(Exec* x, std::uint32_t id) {
  BlockState& block = *x->block;
  Barrier& barrier = block.barriers[id];
  std::uint32_t released = 0;
  std::uint32_t whole = 0;  // warps of which all lanes are
  for (Warp& warp : block.warps) {
    std::uint32_t lanes = 0;
    for (std::uint32_t k = 0; k < warp.count; ++k) {
      Fragment& fragment = warp.fragments[k];
      if (fragment.wait != Wait::kBarrier || fragment.id != id) continue;
      fragment.wait = Wait::kNone;
      warp.ordered.add(barrier.ordered, fragment.mask);
      lanes |= fragment.mask;
      if (fragment.pending != nullptr) write_result(warp, fragment, barrier);
      fragment.pending = nullptr;
    }
    if (lanes == 0) continue;
    released |= std::uint32_t{1} << warp.index;
    if (lanes == warp.live) whole |= std::uint32_t{1} << warp.index;
  }
  block.barriers_in_use &= ~(std::uint32_t{1} << id);
  if (block.watch != nullptr) {
    block.watch->release(x, id, released, whole, barrier.lanes, barrier.expected == 0);
  }
}

void begin_phase(BlockState& block, std::uint32_t id, std::uint32_t expected) {
  Barrier& barrier = block.barriers[id];
  block.barriers_in_use |= std::uint32_t{1} << id;
  barrier.ordered = 0;
  barrier.expected = expected;
  barrier.arrived = 0;
  barrier.count = 0;
  barrier.all = true;
  barrier.any = false;
  barrier.lanes.assign(block.warps.size(), 0);
  barrier.sites.assign(block.warps.size(), nullptr);
}

// What threads of one phase must agree on and do not; the barrier still does what it can.
void check_agreement(Exec* x, const Insn* i, Barrier& barrier, std::uint32_t id,
                     std::uint32_t expected) {
  const Insn*& site = barrier.sites[x->warp->index];
  const int lane = std::countr_zero(x->mask);
  const bool aligned = (i->imm & 2) != 0;  // else each thread may come on a path of its own
  if (aligned && site != nullptr && site != i) {
    report(x, i, lane, driver::FindingKind::kBarrierDivergence,
           fmt::format("arrives at barrier {} while other threads of its warp arrived in the same "
                       "phase at another place: all threads of a warp must reach the same barrier "
                       "instruction",
                       id));
  }
  site = i;
  if (barrier.expected != expected) {
    const auto text = [](std::uint32_t count) {
      return count == 0 ? std::string("all threads of the block")
                        : fmt::format("{} threads", count);
    };
    report(x, i, lane, driver::FindingKind::kBarrierDivergence,
           fmt::format("arrives at barrier {} for {} while others arrived in the same phase for {}",
                       id, text(expected), text(barrier.expected)));
  }
}

}  // namespace

const Insn* op_barrier(Exec* x, const Insn* i) {
  BlockState& block = *x->block;
  Warp& warp = *x->warp;
  const int first = std::countr_zero(x->mask);
  const std::uint32_t id = slot_at<std::uint32_t>(x, i->r[1])[first];
  const bool counts = (i->imm & 1) != 0;
  const std::uint32_t expected = counts ? slot_at<std::uint32_t>(x, i->r[2])[first] : 0;
  const auto kind = static_cast<BarrierKind>(i->mode);
  if (id >= kBarriers) {
    return fault(
        x, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadBarrier,
        fmt::format("barrier {} does not exist: a block has barriers 0 to {}", id, kBarriers - 1));
  }
  if (counts && (expected == 0 || expected % kLanes != 0)) {
    return fault(x, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadBarrier,
                 fmt::format("barrier {} is to wait for {} threads: the number must be a positive "
                             "multiple of {}",
                             id, expected, kLanes));
  }
  Barrier& barrier = block.barriers[id];
  if (!in_use(block, id)) begin_phase(block, id, expected);
  check_agreement(x, i, barrier, id, expected);
  barrier.arrived += x->active;
  barrier.lanes[warp.index] |= x->mask;
  barrier.ordered |= warp.ordered.sources_of(x->mask);
  if (block.watch != nullptr) block.watch->arrive(x, id);
  if (kind >= BarrierKind::kRedPopc) {
    const std::uint32_t p =
        predicate_at(x, i->r[3]) ^ ((i->negated & 8) != 0 ? kAllLanes : std::uint32_t{0});
    barrier.count += static_cast<std::uint32_t>(std::popcount(p & x->mask));
    barrier.all = barrier.all && (p & x->mask) == x->mask;
    barrier.any = barrier.any || (p & x->mask) != 0;
  }
  Fragment& fragment = warp.fragment();
  fragment.pc = i + 1;
  fragment.from = x->from;
  if (kind != BarrierKind::kArrive) {
    fragment.wait = Wait::kBarrier;
    fragment.id = static_cast<std::uint8_t>(id);
    fragment.pending = kind == BarrierKind::kSync ? nullptr : i;
  }
  if (complete(block, barrier)) release(x, id);
  return kind == BarrierKind::kArrive ? i + 1 : resume(x);
}

void leave_barriers(Exec* x, std::uint32_t count) {
  BlockState& block = *x->block;
  block.live_threads -= count;
  for (std::uint32_t left = block.barriers_in_use; left != 0; left &= left - 1) {
    const auto id = static_cast<std::uint32_t>(std::countr_zero(left));
    if (complete(block, block.barriers[id])) release(x, id);
  }
}

}  // namespace baton::sim
