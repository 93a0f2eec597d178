// malloc, free and the aligned malloc of the CUDA headers; `new` and `delete` call the first two.

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim/engine/judge/watch.h"
#include "sim/engine/memory/kernel_heap.h"
#include "sim/engine/run/builtin.h"
#include "sim/engine/run/lane_reader.h"

namespace baton::sim {
namespace {

const Insn* bad_free(Exec* x, const Insn* i, int lane, std::uint64_t address, const char* why) {
  return fault(
      x, i, lane, CUDA_ERROR_LAUNCH_FAILED, driver::FindingKind::kBadFree,
      fmt::format("frees {:#x}, {}: {}", address, x->grid->memory->describe(address), why));
}

const char* reason(KernelHeap::Freed freed) {
  switch (freed) {
    case KernelHeap::Freed::kNow:
      break;
    case KernelHeap::Freed::kBefore:
      return "the block was freed before; free each block once";
    case KernelHeap::Freed::kInside:
      return "this is not the start of the block; free what malloc returned";
    case KernelHeap::Freed::kNoBlock:
      return "free takes only what malloc or new of a kernel returned";
  }
  return "";
}

// Whoever touches the block and is not ordered with its end is in a race with it.
void note_end(Exec* x, const Insn* i, int lane, const Region& block) {
  if (block.shadow == nullptr) return;
  constexpr std::uint64_t kMost = 1u << 30;
  for (std::uint64_t at = 0; at < block.size; at += kMost) {
    watch_lane(x, i, lane, block, false, at,
               static_cast<std::uint32_t>(std::min(block.size - at, kMost)), AccessKind::kWrite,
               false);
  }
}

}  // namespace

const Insn* op_malloc(Exec* x, const Insn* i) {
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    LaneReader reader(x, i, lane);
    std::uint64_t bytes = 0;
    if (!reader.param(0, &bytes)) return nullptr;
    KernelHeap& heap = x->grid->memory->impl().heap();
    if (!reader.result(heap.allocate(bytes, KernelHeap::kAlignment))) return nullptr;
  }
  return i + 1;
}

const Insn* op_aligned_malloc(Exec* x, const Insn* i) {
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    LaneReader reader(x, i, lane);
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
    if (!reader.param(0, &bytes) || !reader.param(1, &alignment)) return nullptr;
    KernelHeap& heap = x->grid->memory->impl().heap();
    const bool fits = std::has_single_bit(alignment) && alignment <= KernelHeap::kLargestAlignment;
    if (!reader.result(fits ? heap.allocate(bytes, alignment) : 0)) return nullptr;
  }
  return i + 1;
}

const Insn* op_free(Exec* x, const Insn* i) {
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    LaneReader reader(x, i, lane);
    std::uint64_t address = 0;
    if (!reader.param(0, &address)) return nullptr;
    if (address == 0) continue;
    KernelHeap& heap = x->grid->memory->impl().heap();
    Region block;
    if (heap.find(address, &block) && block.base == address) note_end(x, i, lane, block);
    const KernelHeap::Freed freed = heap.free(address);
    if (freed != KernelHeap::Freed::kNow) return bad_free(x, i, lane, address, reason(freed));
  }
  return i + 1;
}

}  // namespace baton::sim
