#include "sim/engine/run/stack.h"

#include <fmt/core.h>

#include <bit>

#include "sim/engine/lower/frame.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

// Between what is allocated one after the other: reads there find nothing written.
constexpr std::uint64_t kApart = 16;

std::uint64_t value_at(Exec* x, const Insn* i, int k, int lane) {
  return i->mode == 8 ? slot_at<std::uint64_t>(x, i->r[k])[lane]
                      : slot_at<std::uint32_t>(x, i->r[k])[lane];
}

void set_value(Exec* x, const Insn* i, int lane, std::uint32_t value) {
  if (i->mode == 8) {
    slot_at<std::uint64_t>(x, i->r[0])[lane] = value;
  } else {
    slot_at<std::uint32_t>(x, i->r[0])[lane] = value;
  }
}

CallFrame& frame_of(Exec* x) {
  Warp& warp = *x->warp;
  return warp.frames[warp.fragment().frame];
}

void set_end(CallFrame& frame, int lane, std::uint32_t end) {
  if (frame.stack_ends == nullptr) {
    std::array<std::uint32_t, kLanes> ends;
    for (int l = 0; l < kLanes; ++l) ends[static_cast<std::size_t>(l)] = stack_end(frame, l);
    frame.stack_ends = std::make_unique<std::array<std::uint32_t, kLanes>>(ends);
  }
  (*frame.stack_ends)[static_cast<std::size_t>(lane)] = end;
}

// Nothing wrote there, for the lane.
void forget_written(Warp& warp, int lane, std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t word = (from + 3) / 4; word < (to + 3) / 4; ++word) {
    warp.local_written[word] &= ~(std::uint32_t{1} << lane);
  }
}

}  // namespace

const Insn* op_alloca(Exec* x, const Insn* i) {
  CallFrame& frame = frame_of(x);
  Warp& warp = *x->warp;
  const auto align = static_cast<std::uint64_t>(i->imm);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t before = stack_end(frame, lane);
    const std::uint64_t start = (before + kApart + align - 1) / align * align;
    const std::uint64_t bytes = value_at(x, i, 1, lane);
    if (start > kMaxLocal || bytes > kMaxLocal - start) {
      return fault(x, i, lane, CUDA_ERROR_HARDWARE_STACK_ERROR, driver::FindingKind::kStackOverflow,
                   fmt::format("the stack is exhausted: {} bytes are asked for, {} of {} are left",
                               bytes, start > kMaxLocal ? 0 : kMaxLocal - start, kMaxLocal));
    }
    const auto end = static_cast<std::uint32_t>(start + bytes);
    grow_local(warp, end);
    forget_written(warp, lane, before, end);
    set_end(frame, lane, end);
    set_value(x, i, lane, static_cast<std::uint32_t>(start));
  }
  point_at_local(x);
  return i + 1;
}

const Insn* op_stacksave(Exec* x, const Insn* i) {
  const CallFrame& frame = frame_of(x);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    set_value(x, i, lane, stack_end(frame, lane));
  }
  return i + 1;
}

const Insn* op_stackrestore(Exec* x, const Insn* i) {
  CallFrame& frame = frame_of(x);
  const std::uint32_t least = frame.local_base + frame.function->local_bytes;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t wanted = value_at(x, i, 0, lane);
    const std::uint32_t end = stack_end(frame, lane);
    if (wanted < least || wanted > end) {
      return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kUnsupported,
                   fmt::format("restores the stack to {:#x}, which stacksave did not give in this "
                               "call: the stack reaches from {:#x} to {:#x}",
                               wanted, least, end));
    }
    forget_written(*x->warp, lane, static_cast<std::uint32_t>(wanted), end);
    set_end(frame, lane, static_cast<std::uint32_t>(wanted));
  }
  point_at_local(x);
  return i + 1;
}

}  // namespace baton::sim
