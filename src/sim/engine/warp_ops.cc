#include "sim/engine/warp_ops.h"

#include <algorithm>
#include <bit>

#include "sim/engine/address.h"
#include "sim/engine/lane_access.h"
#include "sim/engine/warp.h"

namespace baton::sim {
namespace {

template <class F>
void for_lanes(std::uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

// The members of the instruction; false, with *next set, while lanes of them are elsewhere.
bool gather(Exec* x, const Insn* i, std::uint32_t* members, const Insn** next) {
  *members = i->r[5] == 0 ? x->mask : slot_at<std::uint32_t>(x, i->r[5])[std::countr_zero(x->mask)];
  return (*members & ~x->mask) == 0 || converge(x, i, *members, next);
}

void write_predicate(Exec* x, std::uint32_t offset, std::uint32_t value) {
  std::uint32_t& p = predicate_at(x, offset);
  p = (p & ~x->mask) | (value & x->mask);
}

void write_all(Exec* x, std::uint32_t offset, std::uint32_t value) {
  std::uint32_t* d = slot_at<std::uint32_t>(x, offset);
  for_lanes(x->mask, [&](int l) { d[l] = value; });
}

template <class T>
const Insn* match_any(Exec* x, const Insn* i) {
  std::uint32_t members;
  const Insn* next;
  if (!gather(x, i, &members, &next)) return next;
  const T* a = slot_at<T>(x, i->r[2]);
  std::uint32_t* d = slot_at<std::uint32_t>(x, i->r[0]);
  std::uint32_t left = x->mask;
  while (left != 0) {
    const T value = a[std::countr_zero(left)];
    std::uint32_t same = 0;
    for_lanes(left, [&](int l) { same |= a[l] == value ? std::uint32_t{1} << l : 0; });
    for_lanes(same, [&](int l) { d[l] = same; });
    left &= ~same;
  }
  return i + 1;
}

template <class T>
const Insn* match_all(Exec* x, const Insn* i) {
  std::uint32_t members;
  const Insn* next;
  if (!gather(x, i, &members, &next)) return next;
  const T* a = slot_at<T>(x, i->r[2]);
  const T value = a[std::countr_zero(x->mask)];
  bool same = true;
  for_lanes(x->mask, [&](int l) { same = same && a[l] == value; });
  write_all(x, i->r[0], same ? x->mask : 0);
  write_predicate(x, i->r[1], same ? kAllLanes : 0);
  return i + 1;
}

std::uint32_t reduced(ReduxOp op, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a);
  const auto sb = static_cast<std::int32_t>(b);
  switch (op) {
    case ReduxOp::kAdd:
      return a + b;
    case ReduxOp::kMinU:
      return std::min(a, b);
    case ReduxOp::kMinS:
      return sa < sb ? a : b;
    case ReduxOp::kMaxU:
      return std::max(a, b);
    case ReduxOp::kMaxS:
      return sa > sb ? a : b;
    case ReduxOp::kAnd:
      return a & b;
    case ReduxOp::kOr:
      return a | b;
    case ReduxOp::kXor:
      return a ^ b;
  }
  return 0;
}

void write_time(Exec* x, const Insn* i, std::uint64_t value) {
  value >>= i->imm;
  for_lanes(x->mask, [&](int l) {
    if (i->mode == 8) {
      slot_at<std::uint64_t>(x, i->r[0])[l] = value;
    } else {
      slot_at<std::uint32_t>(x, i->r[0])[l] = static_cast<std::uint32_t>(value);
    }
  });
}

std::uint64_t cycles(const Exec* x) {
  return x->block->clock + x->warp_instructions;
}

}  // namespace

const Insn* op_vote(Exec* x, const Insn* i) {
  std::uint32_t members;
  const Insn* next;
  if (!gather(x, i, &members, &next)) return next;
  const std::uint32_t p =
      (predicate_at(x, i->r[1]) ^ ((i->negated & 2) != 0 ? kAllLanes : 0)) & x->mask;
  switch (static_cast<VoteMode>(i->mode)) {
    case VoteMode::kBallot:
      write_all(x, i->r[0], p);
      break;
    case VoteMode::kAll:
      write_predicate(x, i->r[0], p == x->mask ? kAllLanes : 0);
      break;
    case VoteMode::kAny:
      write_predicate(x, i->r[0], p != 0 ? kAllLanes : 0);
      break;
    case VoteMode::kUni:
      write_predicate(x, i->r[0], p == 0 || p == x->mask ? kAllLanes : 0);
      break;
  }
  return i + 1;
}

const Insn* op_activemask(Exec* x, const Insn* i) {
  write_all(x, i->r[0], x->mask);
  return i + 1;
}

const Insn* op_match_any32(Exec* x, const Insn* i) {
  return match_any<std::uint32_t>(x, i);
}
const Insn* op_match_any64(Exec* x, const Insn* i) {
  return match_any<std::uint64_t>(x, i);
}
const Insn* op_match_all32(Exec* x, const Insn* i) {
  return match_all<std::uint32_t>(x, i);
}
const Insn* op_match_all64(Exec* x, const Insn* i) {
  return match_all<std::uint64_t>(x, i);
}

const Insn* op_redux(Exec* x, const Insn* i) {
  std::uint32_t members;
  const Insn* next;
  if (!gather(x, i, &members, &next)) return next;
  const std::uint32_t* a = slot_at<std::uint32_t>(x, i->r[2]);
  const int first = std::countr_zero(x->mask);
  std::uint32_t value = a[first];
  for_lanes(x->mask & (x->mask - 1),
            [&](int l) { value = reduced(static_cast<ReduxOp>(i->mode), value, a[l]); });
  write_all(x, i->r[0], value);
  return i + 1;
}

const Insn* op_elect(Exec* x, const Insn* i) {
  std::uint32_t members;
  const Insn* next;
  if (!gather(x, i, &members, &next)) return next;
  const int leader = std::countr_zero(x->mask);
  write_all(x, i->r[0], static_cast<std::uint32_t>(leader));
  write_predicate(x, i->r[1], std::uint32_t{1} << leader);
  return i + 1;
}

const Insn* op_warp_sync(Exec* x, const Insn* i) {
  Warp& warp = *x->warp;
  const std::uint32_t members = slot_at<std::uint32_t>(x, i->r[5])[std::countr_zero(x->mask)];
  if ((members & warp.live & ~x->mask) == 0) return i + 1;
  Fragment& fragment = warp.fragment();
  fragment.wait = Wait::kWarpSync;
  fragment.members = members;
  fragment.pc = i + 1;
  fragment.from = x->from;
  recheck_waits(warp);
  return resume(x);
}

const Insn* op_clock(Exec* x, const Insn* i) {
  write_time(x, i, cycles(x));
  return i + 1;
}

const Insn* op_globaltimer(Exec* x, const Insn* i) {
  // A kernel that waits for time to pass polls: that must not keep the others from running.
  x->spin += 16;
  const std::uint64_t now = cycles(x);
  const std::uint64_t khz = x->grid->clock_khz;
  write_time(x, i, now / khz * 1'000'000 + now % khz * 1'000'000 / khz);
  return i + 1;
}

const Insn* op_nanosleep(Exec* x, const Insn* i) {
  const std::uint32_t nanoseconds = slot_at<std::uint32_t>(x, i->r[0])[std::countr_zero(x->mask)];
  x->block->clock += std::uint64_t{nanoseconds} * x->grid->clock_khz / 1'000'000;
  x->spin += 1024;
  return i + 1;
}

const Insn* op_isspacep(Exec* x, const Insn* i) {
  const std::uint64_t* a = slot_at<std::uint64_t>(x, i->r[1]);
  std::uint32_t inside = 0;
  for_lanes(x->mask, [&](int l) {
    bool holds = window_of(a[l]) == static_cast<unsigned>(i->imm);
    if (i->mode == 1 || i->mode == 2) {
      holds = holds && is_constant_address(a[l]) == (i->mode == 2);
    } else if (i->mode == 3) {
      holds = holds && rank_of(a[l]) == x->block->rank;
    }
    inside |= holds ? std::uint32_t{1} << l : 0;
  });
  write_predicate(x, i->r[0], inside);
  return i + 1;
}

const Insn* op_grid_wait(Exec* x, const Insn* i) {
  if (x->grid->prerequisites_done.load(std::memory_order_acquire)) return i + 1;
  Fragment& fragment = x->warp->fragment();
  fragment.wait = Wait::kGrid;
  fragment.pc = i + 1;
  fragment.from = x->from;
  return resume(x);
}

const Insn* op_launch_dependents(Exec* x, const Insn* i) {
  x->block->triggered = true;
  return i + 1;
}

}  // namespace baton::sim
