#include "sim/engine/run/warp_ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim/engine/judge/hazards.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/report/findings.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

template <class F>
void for_lanes(std::uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

// Of `lanes`, those that name the same members as the first does.
std::uint32_t group_of(Exec* x, const Insn* i, std::uint32_t lanes) {
  const std::uint32_t* named = slot_at<std::uint32_t>(x, i->r[5]);
  const std::uint32_t members = named[std::countr_zero(lanes)];
  std::uint32_t differs = 0;
  for (int l = 0; l < kLanes; ++l) differs |= named[l] ^ members;
  if (differs == 0) return lanes;  // a constant, as nearly always
  std::uint32_t group = 0;
  for_lanes(lanes, [&](int l) { group |= named[l] == members ? std::uint32_t{1} << l : 0; });
  return group;
}

// The first group of lanes that names no members, or members that are elsewhere; 0 where there is
// none.
std::uint32_t unmet_group(Exec* x, const Insn* i) {
  const std::uint32_t* named = slot_at<std::uint32_t>(x, i->r[5]);
  for (std::uint32_t left = x->mask; left != 0;) {
    const std::uint32_t group = group_of(x, i, left);
    const std::uint32_t members = named[std::countr_zero(group)];
    if (members == 0 || (members & x->warp->live & ~group) != 0) return group;
    left &= ~group;
  }
  return 0;
}

// PTX leaves undefined what an instruction does for a lane that its mask does not name.
void check_named(Exec* x, const Insn* i, int lane, std::uint32_t members) {
  if ((members >> lane & 1) != 0) return;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i), members, 0, 6};
  x->grid->logged.add(*x->grid->log, key, 1, [&] {
    driver::Finding finding = finding_at(x, i, lane, driver::FindingKind::kBadMembers);
    finding.message = fmt::format(
        "lane {} executes this with the member mask {:#010x}, which does not name it: the mask "
        "must "
        "name every lane that takes part, the thread's own included",
        lane, members);
    return finding;
  });
}

// Leaves the present fragment with the lanes of `group` alone; the others come here again.
void part(Exec* x, const Insn* i, std::uint32_t group) {
  if (group == x->mask) return;
  account(x, i->r[4], i->r[4]);
  split(x, x->mask & ~group, i, i->r[4]);
  set_mask(x, group);
}

// Runs `f` for lanes that name the same members, once these are all here. Lanes that name others
// are groups of their own. An instruction without members is for the lanes that execute it.
template <class F>
const Insn* with_members(Exec* x, const Insn* i, F&& f) {
  if (i->r[5] == 0) {
    f();
    return i + 1;
  }
  if (const std::uint32_t group = unmet_group(x, i); group != 0) {
    const int first = std::countr_zero(group);
    const std::uint32_t members = slot_at<std::uint32_t>(x, i->r[5])[first];
    if (members == 0) return no_members(x, i, first);
    part(x, i, group);
    const Insn* next = nullptr;
    if (!converge(x, i, members, &next)) return next;
  }
  const std::uint32_t all = x->mask;
  for (std::uint32_t left = all; left != 0;) {
    const std::uint32_t group = group_of(x, i, left);
    left &= ~group;
    const std::uint32_t members = slot_at<std::uint32_t>(x, i->r[5])[std::countr_zero(group)];
    if ((group & ~members) != 0) check_named(x, i, std::countr_zero(group & ~members), members);
    if (group != x->mask) set_mask(x, group);
    share_order(*x->warp, group);
    if (*x->apart != 0) exchange_order(x, group);
    f();
  }
  if (x->mask != all) set_mask(x, all);
  return i + 1;
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
  return with_members(x, i, [x, i] {
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
  });
}

template <class T>
const Insn* match_all(Exec* x, const Insn* i) {
  return with_members(x, i, [x, i] {
    const T* a = slot_at<T>(x, i->r[2]);
    const T value = a[std::countr_zero(x->mask)];
    bool same = true;
    for_lanes(x->mask, [&](int l) { same = same && a[l] == value; });
    write_all(x, i->r[0], same ? x->mask : 0);
    write_predicate(x, i->r[1], same ? kAllLanes : 0);
  });
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

void check_sources(Exec* x, const Insn* i, const std::uint32_t* source) {
  const std::uint32_t* named = slot_at<std::uint32_t>(x, i->r[5]);
  for_lanes(x->mask, [&](int lane) {
    if ((named[lane] >> lane & 1) == 0) return check_named(x, i, lane, named[lane]);
    const std::uint32_t from = source[lane];
    const bool is_here = (x->mask >> from & 1) != 0;
    if (i->mode == 0 || (is_here && (named[lane] >> from & 1) != 0)) return;
    const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(i), is_here ? 1u : 0u, 0, 7};
    x->grid->logged.add(*x->grid->log, key, 1, [&] {
      const bool has_exited = (x->warp->live >> from & 1) == 0;
      driver::Finding finding = finding_at(x, i, lane, driver::FindingKind::kUninitialized);
      finding.message = fmt::format(
          "lane {} takes the value of lane {}, which {}, and computes with it: the value is "
          "undefined; leave it out, or let all lanes come here that are read",
          lane, from,
          is_here      ? fmt::format("its member mask {:#010x} does not name", named[lane])
          : has_exited ? "has exited or does not exist"
                       : "is elsewhere");
      return finding;
    });
  });
}

const Insn* no_members(Exec* x, const Insn* i, int lane) {
  return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadMembers,
               "the member mask is 0: it must name every lane that takes part, the thread's own "
               "included");
}

const Insn* op_vote(Exec* x, const Insn* i) {
  return with_members(x, i, [x, i] {
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
  });
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
  return with_members(x, i, [x, i] {
    const std::uint32_t* a = slot_at<std::uint32_t>(x, i->r[2]);
    const int first = std::countr_zero(x->mask);
    std::uint32_t value = a[first];
    for_lanes(x->mask & (x->mask - 1),
              [&](int l) { value = reduced(static_cast<ReduxOp>(i->mode), value, a[l]); });
    write_all(x, i->r[0], value);
  });
}

const Insn* op_elect(Exec* x, const Insn* i) {
  return with_members(x, i, [x, i] {
    const int leader = std::countr_zero(x->mask);
    write_all(x, i->r[0], static_cast<std::uint32_t>(leader));
    write_predicate(x, i->r[1], std::uint32_t{1} << leader);
  });
}

const Insn* op_warp_sync(Exec* x, const Insn* i) {
  const std::uint32_t group = unmet_group(x, i);
  if (group == 0) return with_members(x, i, [x, i] { note_sync(x, i, x->mask); });
  const int first = std::countr_zero(group);
  const std::uint32_t members = slot_at<std::uint32_t>(x, i->r[5])[first];
  if (members == 0) return no_members(x, i, first);
  part(x, i, group);
  Warp& warp = *x->warp;
  Fragment& fragment = warp.fragment();
  fragment.wait = Wait::kWarpSync;
  fragment.members = members;
  fragment.pc = i + 1;
  fragment.from = x->from;
  note_sync(x, i, recheck_waits(warp));
  return resume(x);
}

const Insn* op_meet(Exec* x, const Insn* i) {
  return with_members(x, i, [] {});
}

const Insn* op_clock(Exec* x, const Insn* i) {
  x->grid->reads_time.store(true, std::memory_order_relaxed);
  write_time(x, i, cycles(x));
  return i + 1;
}

const Insn* op_globaltimer(Exec* x, const Insn* i) {
  // A kernel that waits for time to pass polls: that must not keep the others from running.
  x->spin += 16;
  x->grid->reads_time.store(true, std::memory_order_relaxed);
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
      holds = i->mode == 1 ? is_global_address(a[l]) : holds && is_constant_address(a[l]);
    } else if (i->mode == 3) {
      holds = holds && rank_of(a[l]) == x->block->rank;
    }
    inside |= holds ? std::uint32_t{1} << l : 0;
  });
  write_predicate(x, i->r[0], inside);
  return i + 1;
}

const Insn* op_grid_wait(Exec* x, const Insn* i) {
  GridState& grid = *x->grid;
  if (grid.prerequisites_done.load(std::memory_order_acquire)) {
    x->warp->ordered.add(1, x->mask);
    if (!grid.launch.is_programmatic || x->block->waited) return i + 1;
    x->block->waited = true;
    Ordering::instance().note_wait(grid.launch.number);
    return i + 1;
  }
  if (grid.trace != nullptr) grid.trace->begin_wait(x->block);
  Fragment& fragment = x->warp->fragment();
  fragment.wait = Wait::kGrid;
  fragment.pc = i + 1;
  fragment.from = x->from;
  return resume(x);
}

const Insn* op_launch_dependents(Exec* x, const Insn* i) {
  BlockState& block = *x->block;
  GridState& grid = *x->grid;
  if (grid.launch.is_programmatic && (x->mask & ~x->warp->ordered.waited()) != 0) {
    Ordering::instance().note_early_trigger(grid.launch.number);
  }
  if (block.triggered) return i + 1;
  block.triggered = true;
  if (grid.trace != nullptr) grid.trace->note_trigger(&block);
  grid.triggered_blocks.fetch_add(1, std::memory_order_relaxed);
  if (!grid.stops_at_trigger) return i + 1;
  Fragment& fragment = x->warp->fragment();
  fragment.pc = i + 1;
  fragment.from = x->from;
  x->stop = Stop::kTrigger;
  return nullptr;
}

}  // namespace baton::sim
