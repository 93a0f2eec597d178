#include "sim/engine/run/warp.h"

#include <bit>

#include "sim/engine/judge/hazards.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/lower/frame.h"
#include "sim/engine/run/barrier.h"
#include "sim/engine/run/cluster_barrier.h"
#include "sim/engine/run/fingerprint.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kSpinLimit = 256;  // failed atomics and strong loads, counted by lane
constexpr std::uint32_t kStaleSlices = 8;
constexpr std::uint32_t kMostDetours = 64;

void remove(Warp& warp, std::uint32_t k) {
  warp.fragments[k] = warp.fragments[warp.count - 1];
  --warp.count;
  warp.slices = 0;
}

// Makes fragment k one with every runnable fragment at the same place.
void merge(Warp& warp, std::uint32_t* k) {
  for (std::uint32_t other = 0; other < warp.count;) {
    Fragment& into = warp.fragments[*k];
    Fragment& from = warp.fragments[other];
    if (other == *k || from.pc != into.pc || from.frame != into.frame || from.wait != Wait::kNone) {
      ++other;
      continue;
    }
    into.mask |= from.mask;
    const bool moved = *k == warp.count - 1;
    remove(warp, other);
    if (moved) *k = other;
    other = 0;
  }
}

// True where fragment a is due before fragment b.
bool before(const Warp& warp, const Fragment& a, const Fragment& b) {
  const std::uint32_t a_depth = warp.frames[a.frame].depth;
  const std::uint32_t b_depth = warp.frames[b.frame].depth;
  return a_depth != b_depth ? a_depth > b_depth : a.pc < b.pc;
}

const Insn* enter(Exec* x, Warp& warp, std::uint32_t k) {
  merge(warp, &k);
  warp.current = k;
  const Fragment& fragment = warp.fragments[k];
  x->frame = warp.frames[fragment.frame].base;
  x->from = fragment.from;
  point_at_local(x);
  set_mask(x, fragment.mask);
  return fragment.pc;
}

}  // namespace

void set_mask(Exec* x, std::uint32_t mask) {
  x->mask = mask;
  x->full = mask == kAllLanes;
  x->whole = mask == x->warp->live;
  x->active = count_lanes(mask);
  if (x->full) return;
  for (int l = 0; l < kLanes; ++l) {
    x->lanes[l] = (mask & std::uint32_t{1} << l) != 0 ? kAllLanes : 0;
  }
}

const Insn* resume(Exec* x) {
  Warp& warp = *x->warp;
  if (warp.count == 0) {
    x->stop = Stop::kDone;
    return nullptr;
  }
  std::uint32_t best = warp.count;
  const std::uint32_t last = warp.rotate ? warp.turn : warp.current;
  for (std::uint32_t step = 1; step <= warp.count; ++step) {
    const std::uint32_t k = (last + step) % warp.count;
    const Fragment& fragment = warp.fragments[k];
    if (fragment.wait != Wait::kNone) continue;
    if (best == warp.count || before(warp, fragment, warp.fragments[best])) best = k;
    if (warp.rotate) break;  // the next in turn, whatever its place
  }
  if (best == warp.count) {
    x->stop = Stop::kWaiting;
    return nullptr;
  }
  if (warp.rotate) warp.turn = best;
  warp.out_of_turn = warp.rotate;
  warp.rotate = false;
  return enter(x, warp, best);
}

const Insn* reschedule(Exec* x, const Insn* pc) {
  Fragment& fragment = x->warp->fragment();
  fragment.pc = pc;
  fragment.from = x->from;
  return resume(x);
}

void split(Exec* x, std::uint32_t mask, const Insn* pc, std::uint32_t count) {
  Warp& warp = *x->warp;
  Fragment& present = warp.fragment();
  Fragment& added = warp.fragments[warp.count++];
  added = Fragment{};
  added.pc = pc;
  added.mask = mask;
  added.frame = present.frame;
  added.from = count;
  present.mask &= ~mask;
  warp.slices = 0;
}

const Insn* exit_lanes(Exec* x) {
  Warp& warp = *x->warp;
  const std::uint32_t gone = x->mask;
  warp.live &= ~gone;
  remove(warp, warp.current);
  if (warp.live == 0 && x->block->watch != nullptr) x->block->watch->exit(x);
  leave_barriers(x, count_lanes(gone));
  leave_cluster_barrier(x, gone);
  note_sync(x, nullptr, recheck_waits(warp));
  return resume(x);
}

std::uint32_t recheck_waits(Warp& warp) {
  std::uint32_t synced = 0;
  for (std::uint32_t k = 0; k < warp.count; ++k) {
    Fragment& fragment = warp.fragments[k];
    if (fragment.wait != Wait::kConverge && fragment.wait != Wait::kWarpSync) continue;
    // Who is here: for kConverge lanes at the same instruction, for kWarpSync at any such one.
    std::uint32_t here = 0;
    for (std::uint32_t other = 0; other < warp.count; ++other) {
      const Fragment& o = warp.fragments[other];
      if (o.wait != fragment.wait) continue;
      // Who waits for others at a barrier of the warp is not here.
      if (o.wait == Wait::kWarpSync && o.members != fragment.members) continue;
      if (o.wait == Wait::kConverge && (o.pc != fragment.pc || o.frame != fragment.frame)) continue;
      here |= o.mask;
    }
    if ((fragment.members & warp.live & ~here) != 0) continue;
    // All that named each other go on together.
    const std::uint32_t members = fragment.members;
    share_order(warp, members & here);
    const Wait kind = fragment.wait;
    if (kind == Wait::kWarpSync) synced |= members & here;
    for (std::uint32_t other = 0; other < warp.count; ++other) {
      Fragment& o = warp.fragments[other];
      if (o.wait != kind || (o.mask & members) == 0) continue;
      if (kind == Wait::kConverge || o.members == members) o.wait = Wait::kNone;
    }
  }
  return synced;
}

void note_sync(Exec* x, const Insn* insn, std::uint32_t lanes) {
  if (lanes != 0 && x->block->watch != nullptr) x->block->watch->sync_lanes(x, insn, lanes);
}

bool converge(Exec* x, const Insn* i, std::uint32_t members, const Insn** next) {
  Warp& warp = *x->warp;
  const std::uint32_t missing = members & warp.live & ~x->mask;
  if (missing == 0) return true;
  Fragment& fragment = warp.fragment();
  fragment.wait = Wait::kConverge;
  fragment.members = members;
  fragment.pc = i;
  fragment.from = x->from;
  note_sync(x, i, recheck_waits(warp));
  *next = resume(x);
  return false;
}

bool should_yield(const Exec* x) {
  return x->slice <= 0 || x->spin > kSpinLimit;
}

namespace {

// At the end of a slice: whether it left registers and memory as the slice before it did. Then the
// warp waits for others by plain loads, and goes on like this until they change what it reads.
bool goes_round(Exec* x) {
  Warp& warp = *x->warp;
  const Warp::Left before = warp.left;
  warp.left = {};
  if (x->bytes_written != x->written_before) return false;
  warp.left.pc = warp.fragment().pc;
  warp.left.registers = fingerprint_of(warp);
  if (before.pc != warp.left.pc || before.registers != warp.left.registers) return false;
  warp.left.shared = fingerprint_of_shared(*x->block) | 1;
  warp.left.goes_round = before.shared == warp.left.shared;
  return warp.left.goes_round;
}

}  // namespace

const Insn* yield(Exec* x, const Insn* pc) {
  Warp& warp = *x->warp;
  Fragment& present = warp.fragment();
  present.pc = pc;
  present.from = x->from;
  if (x->slice <= 0) {
    // Loops are compared at one of their branches.
    const bool is_elsewhere = warp.left.pc != nullptr && warp.left.pc != pc && !x->gives_way;
    if (is_elsewhere && x->detours++ < kMostDetours) return pc;
    warp.rotate = ++warp.slices >= kStaleSlices;
    if (!x->gives_way && goes_round(x)) {
      x->block->cluster->spun = true;
      warp.spinning = warp.runnable_fragments() == 1;
    }
    x->stop = Stop::kYield;
    return nullptr;
  }
  x->block->cluster->spun = true;
  x->spin = 0;
  if (++x->polls < warp.runnable_fragments()) {
    warp.rotate = !warp.out_of_turn;
    return resume(x);
  }
  warp.spinning = true;
  x->stop = Stop::kYield;
  return nullptr;
}

const Insn* give_way(Exec* x, const Insn* pc) {
  x->slice = 0;
  return yield(x, pc);
}

}  // namespace baton::sim
