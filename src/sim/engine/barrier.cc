#include "sim/engine/barrier.h"

#include <fmt/format.h>

#include <bit>

#include "sim/engine/warp.h"

namespace baton::sim {
namespace {

// A warp that arrived counts whole: lanes that do not exist or have exited cannot come.
bool complete(const BlockState& block, const Barrier& barrier) {
  if (!barrier.in_use) return false;
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

void release(BlockState& block, std::uint32_t id) {
  Barrier& barrier = block.barriers[id];
  for (Warp& warp : block.warps) {
    for (std::uint32_t k = 0; k < warp.count; ++k) {
      Fragment& fragment = warp.fragments[k];
      if (fragment.wait != Wait::kBarrier || fragment.id != id) continue;
      fragment.wait = Wait::kNone;
      if (fragment.pending != nullptr) write_result(warp, fragment, barrier);
      fragment.pending = nullptr;
    }
  }
  barrier.in_use = false;
}

void begin_phase(BlockState& block, Barrier& barrier, std::uint32_t expected) {
  barrier.in_use = true;
  barrier.expected = expected;
  barrier.arrived = 0;
  barrier.count = 0;
  barrier.all = true;
  barrier.any = false;
  barrier.lanes.assign(block.warps.size(), 0);
}

}  // namespace

const Insn* op_barrier(Exec* x, const Insn* i) {
  BlockState& block = *x->block;
  Warp& warp = *x->warp;
  const int first = std::countr_zero(x->mask);
  const std::uint32_t id = slot_at<std::uint32_t>(x, i->r[1])[first];
  const std::uint32_t expected = i->imm != 0 ? slot_at<std::uint32_t>(x, i->r[2])[first] : 0;
  const auto kind = static_cast<BarrierKind>(i->mode);
  if (id >= kBarriers) {
    return fault(
        x, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION, "bad_barrier",
        fmt::format("barrier {} does not exist: a block has barriers 0 to {}", id, kBarriers - 1));
  }
  if (i->imm != 0 && (expected == 0 || expected % kLanes != 0)) {
    return fault(x, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION, "bad_barrier",
                 fmt::format("barrier {} is to wait for {} threads: the number must be a positive "
                             "multiple of {}",
                             id, expected, kLanes));
  }
  Barrier& barrier = block.barriers[id];
  if (!barrier.in_use) begin_phase(block, barrier, expected);
  barrier.arrived += x->active;
  barrier.lanes[warp.index] |= x->mask;
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
  if (complete(block, barrier)) release(block, id);
  return kind == BarrierKind::kArrive ? i + 1 : resume(x);
}

void leave_barriers(Exec* x, std::uint32_t count) {
  BlockState& block = *x->block;
  block.live_threads -= count;
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    if (complete(block, block.barriers[id])) release(block, id);
  }
}

}  // namespace baton::sim
