#include "sim/engine/run/control.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "sim/engine/lower/frame.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

const Insn* take(Exec* x, const Insn* i) {
  account(x, i->r[4], i->r[5]);
  if (i->u.target <= i && should_yield(x)) return yield(x, i->u.target);
  return i->u.target;
}

}  // namespace

const Insn* op_guarded(Exec* x, const Insn* i) {
  const std::uint32_t p =
      predicate_at(x, i->guard) ^ ((i->negated & kGuardNegated) != 0 ? kAllLanes : 0);
  const std::uint32_t before = x->mask;
  const std::uint32_t chosen = before & p;
  if (chosen == before) return i->inner(x, i);
  if (chosen == 0) return i + 1;
  const std::uint32_t active = x->active;
  set_mask(x, chosen);
  const Insn* next = i->inner(x, i);
  set_mask(x, before);
  x->active = active;
  return next;
}

const Insn* op_bra(Exec* x, const Insn* i) {
  account(x, i->r[4], i->r[5]);
  return i->u.target;
}

const Insn* op_bra_back(Exec* x, const Insn* i) {
  return take(x, i);
}

const Insn* op_bra_if(Exec* x, const Insn* i) {
  const std::uint32_t p =
      predicate_at(x, i->guard) ^ ((i->negated & kGuardNegated) != 0 ? kAllLanes : 0);
  const std::uint32_t taken = p & x->mask;
  if (taken == x->mask) return take(x, i);
  if (taken == 0) return i + 1;
  account(x, i->r[4], i->r[4]);
  split(x, taken, i->u.target, i->r[5]);
  const Insn* next = reschedule(x, i + 1);
  if (i->u.target <= i && next != nullptr && should_yield(x)) return yield(x, next);
  return next;
}

const Insn* op_brx(Exec* x, const Insn* i) {
  const auto& targets = *static_cast<const std::vector<const Insn*>*>(i->u.data);
  const auto* counts = reinterpret_cast<const std::uint32_t*>(i->imm);
  const std::uint32_t* index = slot_at<std::uint32_t>(x, i->r[0]);
  account(x, i->r[4], i->r[4]);
  while (x->mask != 0) {
    const int lane = std::countr_zero(x->mask);
    const std::uint32_t wanted = index[lane];
    if (wanted >= targets.size()) {
      return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadBranch,
                   fmt::format("brx.idx to target {} of a list of {}", wanted, targets.size()));
    }
    std::uint32_t same = 0;
    for (int l = lane; l < kLanes; ++l) {
      if ((x->mask >> l & 1) != 0 && index[l] == wanted) same |= std::uint32_t{1} << l;
    }
    if (same == x->mask) {
      x->from = counts[wanted];
      const Insn* next = reschedule(x, targets[wanted]);
      return next != nullptr && should_yield(x) ? yield(x, next) : next;
    }
    split(x, same, targets[wanted], counts[wanted]);
    set_mask(x, x->mask & ~same);
  }
  return nullptr;
}

const Insn* op_join(Exec* x, const Insn* i) {
  Warp& warp = *x->warp;
  if (warp.count == 1 || warp.out_of_turn) [[likely]]
    return i + 1;
  account(x, i->r[4], i->r[4]);
  return reschedule(x, i + 1);
}

const Insn* op_exit(Exec* x, const Insn* i) {
  account(x, i->r[4], i->r[4]);
  const std::uint32_t gone = x->mask;
  Warp& warp = *x->warp;
  // The calls that these lanes were in will not return for them.
  for (std::uint32_t frame = warp.fragment().frame; frame != 0; frame = warp.frames[frame].parent) {
    warp.frames[frame].lanes &= ~gone;
  }
  return exit_lanes(x);
}

const Insn* op_call(Exec* x, const Insn* i) {
  const CallSite& call = *static_cast<const CallSite*>(i->u.data);
  const DecodedFunction* callee = call.callee;
  if (callee == nullptr) {
    // Lanes that call another function wait at this same instruction for their turn.
    const std::uint64_t* target = slot_at<std::uint64_t>(x, i->r[0]);
    const int lane = std::countr_zero(x->mask);
    std::uint32_t same = 0;
    for (int l = lane; l < kLanes; ++l) {
      if ((x->mask >> l & 1) != 0 && target[l] == target[lane]) same |= std::uint32_t{1} << l;
    }
    const auto& functions = x->grid->kernel->by_index;
    const auto found = functions.find(static_cast<std::uint32_t>(target[lane]));
    if (window_of(target[lane]) != window_number(kCodeWindow) || found == functions.end()) {
      return fault(x, i, lane, CUDA_ERROR_INVALID_PC, driver::FindingKind::kBadCall,
                   fmt::format("an indirect call to {:#x}, which is not a function of this module",
                               target[lane]));
    }
    callee = found->second;
    if (!arguments_match(*callee, call)) {
      return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadCall,
                   fmt::format("an indirect call to {} with parameters of other sizes than its own",
                               callee->name));
    }
    if (same != x->mask) {
      account(x, i->r[4] - 1, i->r[4] - 1);
      split(x, x->mask & ~same, i, i->r[4] - 1);
      set_mask(x, same);
    }
  }
  account(x, i->r[4], 0);
  return enter_call(x, i, call, *callee);
}

const Insn* op_ret(Exec* x, const Insn* i) {
  if (x->warp->fragment().frame == 0) return op_exit(x, i);
  account(x, i->r[4], i->r[4]);
  return leave_call(x);
}

const Insn* op_trap(Exec* x, const Insn* i) {
  return fault(x, i, std::countr_zero(x->mask), CUDA_ERROR_LAUNCH_FAILED,
               driver::FindingKind::kTrap, "the kernel executed a trap");
}

const Insn* op_unsupported(Exec* x, const Insn* i) {
  const DecodedFunction& function = *function_of(x);
  const Site& site = function.sites[static_cast<std::size_t>(i - function.code.data())];
  return fault(
      x, i, std::countr_zero(x->mask), CUDA_ERROR_NOT_SUPPORTED,
      driver::FindingKind::kUnsupportedInstruction,
      fmt::format("\"{}\" at PTX line {}: {}", text_of(*site.instruction),
                  site.instruction->position.line, *static_cast<const std::string*>(i->u.data)));
}

const Insn* op_nop(Exec*, const Insn* i) {
  return i + 1;
}

}  // namespace baton::sim
