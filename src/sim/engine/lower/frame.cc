#include "sim/engine/lower/frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kMaxCallMemory = 64 * 1024 * 1024;  // registers of one warp's calls

void broadcast(std::byte* slot, std::uint8_t width, std::uint64_t bits) {
  if (width == 1) {
    const auto mask = static_cast<std::uint32_t>(bits);
    std::memcpy(slot, &mask, sizeof(mask));
  } else if (width == 4) {
    std::fill_n(reinterpret_cast<std::uint32_t*>(slot), kLanes, static_cast<std::uint32_t>(bits));
  } else {
    std::fill_n(reinterpret_cast<std::uint64_t*>(slot), kLanes, bits);
  }
}

bool of_block(SpecialValue special) {
  switch (special) {
    case SpecialValue::kCtaidX:
    case SpecialValue::kCtaidY:
    case SpecialValue::kCtaidZ:
    case SpecialValue::kSmid:
    case SpecialValue::kClusteridX:
    case SpecialValue::kClusteridY:
    case SpecialValue::kClusteridZ:
    case SpecialValue::kClusterCtaidX:
    case SpecialValue::kClusterCtaidY:
    case SpecialValue::kClusterCtaidZ:
    case SpecialValue::kClusterCtarank:
    case SpecialValue::kReservedSmem:
    case SpecialValue::kReservedSmemEnd:
      return true;
    default:
      return false;
  }
}

// The value for one lane; the block is not looked at.
std::uint64_t grid_value(const GridState& grid, const SpecialSlot& slot, std::uint32_t warp,
                         std::uint32_t lane) {
  const Extent3& block = grid.launch.block;
  const Extent3& blocks = grid.launch.grid;
  const Extent3& cluster = grid.launch.cluster;
  const std::uint32_t thread = warp * kLanes + lane;
  const std::uint32_t bit = std::uint32_t{1} << lane;
  switch (slot.special) {
    case SpecialValue::kTidX:
      return thread % block.x;
    case SpecialValue::kTidY:
      return thread / block.x % block.y;
    case SpecialValue::kTidZ:
      return thread / block.x / block.y;
    case SpecialValue::kNtidX:
      return block.x;
    case SpecialValue::kNtidY:
      return block.y;
    case SpecialValue::kNtidZ:
      return block.z;
    case SpecialValue::kNctaidX:
      return blocks.x;
    case SpecialValue::kNctaidY:
      return blocks.y;
    case SpecialValue::kNctaidZ:
      return blocks.z;
    case SpecialValue::kNclusteridX:
      return blocks.x / cluster.x;
    case SpecialValue::kNclusteridY:
      return blocks.y / cluster.y;
    case SpecialValue::kNclusteridZ:
      return blocks.z / cluster.z;
    case SpecialValue::kLaneid:
      return lane;
    case SpecialValue::kWarpid:
      return warp;
    case SpecialValue::kNwarpid:
      return 64;  // warps an SM holds
    case SpecialValue::kNsmid:
      return static_cast<std::uint64_t>(grid.sm_count);
    case SpecialValue::kGridid:
      return grid.id;
    case SpecialValue::kLanemaskEq:
      return bit;
    case SpecialValue::kLanemaskLe:
      return bit | (bit - 1);
    case SpecialValue::kLanemaskLt:
      return bit - 1;
    case SpecialValue::kLanemaskGe:
      return ~(bit - 1);
    case SpecialValue::kLanemaskGt:
      return ~(bit | (bit - 1));
    case SpecialValue::kDynamicSmemSize:
      return grid.launch.dynamic_shared;
    case SpecialValue::kTotalSmemSize:
    case SpecialValue::kAggrSmemSize:
      return grid.shared_bytes;
    case SpecialValue::kClusterNctaidX:
      return cluster.x;
    case SpecialValue::kClusterNctaidY:
      return cluster.y;
    case SpecialValue::kClusterNctaidZ:
      return cluster.z;
    case SpecialValue::kClusterNctarank:
      return cluster.count();
    case SpecialValue::kIsExplicitCluster:
      return grid.launch.explicit_cluster ? 1 : 0;
    // Cooperative launches alone are given a workspace: its address is in %envreg1 and 2, the upper
    // half first (as cooperative_groups/details/helpers.h of CUDA 13.0 reads it).
    case SpecialValue::kEnvreg:
      return slot.index == 1   ? grid.workspace.address() >> 32
             : slot.index == 2 ? grid.workspace.address() & 0xffffffff
                               : 0;
    default:
      return 0;
  }
}

std::uint64_t block_value(const GridState& grid, const BlockState& block, SpecialValue special) {
  const Extent3& cluster = grid.launch.cluster;
  switch (special) {
    case SpecialValue::kCtaidX:
      return block.index.x;
    case SpecialValue::kCtaidY:
      return block.index.y;
    case SpecialValue::kCtaidZ:
      return block.index.z;
    case SpecialValue::kClusteridX:
      return block.index.x / cluster.x;
    case SpecialValue::kClusteridY:
      return block.index.y / cluster.y;
    case SpecialValue::kClusteridZ:
      return block.index.z / cluster.z;
    case SpecialValue::kClusterCtaidX:
      return block.index.x % cluster.x;
    case SpecialValue::kClusterCtaidY:
      return block.index.y % cluster.y;
    case SpecialValue::kClusterCtaidZ:
      return block.index.z % cluster.z;
    case SpecialValue::kClusterCtarank:
      return block.rank;
    case SpecialValue::kReservedSmem:
    case SpecialValue::kReservedSmemEnd: {
      const std::uint64_t base = std::uint64_t{block.rank} << kRankShift;
      const std::uint64_t end = base + block.shared.size();
      return special == SpecialValue::kReservedSmemEnd ? end : end - grid.kernel->reserved_shared;
    }
    default:
      return grid.multiprocessor_of(block.number);  // %smid
  }
}

std::uint64_t param_value(const GridState& grid, const FrameParamSlot& slot) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, grid.launch.params.data() + slot.at, slot.bytes);
  if (slot.is_signed && slot.bytes < 8) {
    const int shift = 64 - 8 * slot.bytes;
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
  }
  return bits;
}

// Copies bytes of local memory, lane by lane words side by side, with what is known of them.
void copy_local(Warp& warp, std::uint32_t lanes, std::uint32_t to, std::uint32_t from,
                std::uint32_t bytes) {
  for (std::uint32_t word = 0; word < (bytes + 3) / 4; ++word) {
    const auto* source = reinterpret_cast<const std::uint32_t*>(
        warp.local.data() + std::size_t{from / 4 + word} * kSlot32);
    auto* target =
        reinterpret_cast<std::uint32_t*>(warp.local.data() + std::size_t{to / 4 + word} * kSlot32);
    for (int l = 0; l < kLanes; ++l) {
      if ((lanes >> l & 1) != 0) target[l] = source[l];
    }
    std::uint32_t& known = warp.local_written[to / 4 + word];
    known = (known & ~lanes) | (warp.local_written[from / 4 + word] & lanes);
  }
}

std::uint32_t free_frame(Warp& warp) {
  for (std::uint32_t k = 1; k < warp.frames.size(); ++k) {
    if (warp.frames[k].lanes == 0) return k;
  }
  warp.frames.emplace_back();
  return static_cast<std::uint32_t>(warp.frames.size() - 1);
}

}  // namespace

void fill_frame(const GridState& grid, const BlockState& block, const DecodedFunction& function,
                std::uint32_t warp_index, std::uint32_t local_base, std::byte* frame) {
  const std::uint64_t shared_base = std::uint64_t{block.rank} << kRankShift;
  for (const ConstantSlot& slot : function.constants) {
    broadcast(frame + slot.offset, slot.width, slot.bits + (slot.is_shared ? shared_base : 0));
  }
  for (const FrameParamSlot& slot : function.params) {
    broadcast(frame + slot.offset, slot.width, param_value(grid, slot));
  }
  for (const LocalSlot& slot : function.locals) {
    const std::uint64_t address = std::uint64_t{local_base} + slot.at;
    broadcast(frame + slot.offset, slot.width, slot.generic ? kLocalWindow + address : address);
  }
  for (const SpecialSlot& slot : function.specials) {
    if (of_block(slot.special)) continue;
    if (slot.width == 1) {
      broadcast(frame + slot.offset, 1, grid_value(grid, slot, warp_index, 0) != 0 ? kAllLanes : 0);
      continue;
    }
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t value = grid_value(grid, slot, warp_index, lane);
      std::memcpy(frame + slot.offset + lane * slot.width, &value, slot.width);
    }
  }
}

void fill_block_slots(const GridState& grid, const BlockState& block,
                      const DecodedFunction& function, std::byte* frame) {
  for (const SpecialSlot& slot : function.specials) {
    if (!of_block(slot.special)) continue;
    broadcast(frame + slot.offset, slot.width, block_value(grid, block, slot.special));
  }
  for (const auto& [offset, bytes] : function.cleared) std::memset(frame + offset, 0, bytes);
}

void grow_local(Warp& warp, std::uint32_t bytes) {
  const std::size_t words = (bytes + 3) / 4;
  if (warp.local_written.size() >= words) return;
  warp.local.resize(words * kSlot32);
  warp.local_written.resize(words);
}

std::uint32_t stack_end(const CallFrame& frame, int lane) {
  if (frame.stack_ends != nullptr) return (*frame.stack_ends)[static_cast<std::size_t>(lane)];
  return frame.local_base + (frame.function->local_bytes + 15) / 16 * 16;
}

// What no lane has lies after the end of some: the quick paths leave it to those that look.
void point_at_local(Exec* x) {
  Warp& warp = *x->warp;
  const Fragment& fragment = warp.fragment();
  x->local = warp.local.data();
  x->local_written = warp.local_written.data();
  x->local_size = static_cast<std::uint32_t>(warp.local_written.size() * 4);
  const CallFrame& frame = warp.frames[fragment.frame];
  if (frame.stack_ends == nullptr) return;
  for (std::uint32_t left = fragment.mask; left != 0; left &= left - 1) {
    x->local_size = std::min(x->local_size, stack_end(frame, std::countr_zero(left)));
  }
}

bool arguments_match(const DecodedFunction& callee, const CallSite& call) {
  return callee.param_bytes == call.param_bytes && callee.result_bytes == call.result_bytes;
}

const Insn* enter_call(Exec* x, const Insn* i, const CallSite& call,
                       const DecodedFunction& callee) {
  Warp& warp = *x->warp;
  const std::uint32_t caller_index = warp.fragment().frame;
  const std::uint32_t index = free_frame(warp);
  CallFrame& caller = warp.frames[caller_index];
  CallFrame& frame = warp.frames[index];
  std::uint32_t local_base = 0;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    local_base = std::max(local_base, (stack_end(caller, std::countr_zero(left)) + 15) / 16 * 16);
  }
  const std::uint32_t depth = caller.depth + 1;
  if (local_base + callee.local_bytes > kMaxLocal ||
      std::uint64_t{depth} * callee.frame_bytes > kMaxCallMemory) {
    return fault(x, i, std::countr_zero(x->mask), CUDA_ERROR_HARDWARE_STACK_ERROR,
                 driver::FindingKind::kStackOverflow,
                 fmt::format("the stack is exhausted: {} calls deep in {}", depth, callee.name));
  }
  if (frame.memory_bytes < callee.frame_bytes) {
    frame.memory = std::make_unique<std::byte[]>(callee.frame_bytes + 64);
    frame.memory_bytes = callee.frame_bytes;
  }
  const auto start = reinterpret_cast<std::uintptr_t>(frame.memory.get());
  frame.base = frame.memory.get() + (64 - start % 64) % 64;
  frame.function = &callee;
  frame.return_to = i + 1;
  frame.return_count = i->r[4];
  frame.call = &call;
  frame.parent = caller_index;
  frame.depth = depth;
  frame.local_base = local_base;
  frame.lanes = x->mask;
  frame.stack_ends = nullptr;
  fill_frame(*x->grid, *x->block, callee, warp.index, local_base, frame.base);
  fill_block_slots(*x->grid, *x->block, callee, frame.base);

  grow_local(warp, local_base + callee.local_bytes);
  const std::uint32_t first = local_base / 4;
  for (std::uint32_t word = 0; word < (callee.local_bytes + 3) / 4; ++word) {
    warp.local_written[first + word] &= ~x->mask;
  }
  for (std::size_t k = 0; k < call.params.size(); ++k) {
    copy_local(warp, x->mask, local_base + callee.param_at[k], caller.local_base + call.params[k],
               call.param_bytes[k]);
  }
  Fragment& fragment = warp.fragment();
  fragment.frame = index;
  point_at_local(x);
  fragment.pc = callee.code.data();
  fragment.from = 0;
  x->from = 0;
  x->frame = frame.base;
  return callee.code.data();
}

const Insn* leave_call(Exec* x) {
  Warp& warp = *x->warp;
  Fragment& fragment = warp.fragment();
  CallFrame& frame = warp.frames[fragment.frame];
  const CallFrame& caller = warp.frames[frame.parent];
  for (std::size_t k = 0; k < frame.call->results.size(); ++k) {
    copy_local(warp, x->mask, caller.local_base + frame.call->results[k],
               frame.local_base + frame.function->result_at[k], frame.call->result_bytes[k]);
  }
  frame.lanes &= ~x->mask;
  fragment.frame = frame.parent;
  x->from = frame.return_count;
  return reschedule(x, frame.return_to);
}

}  // namespace baton::sim
