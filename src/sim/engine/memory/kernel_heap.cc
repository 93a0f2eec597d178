#include "sim/engine/memory/kernel_heap.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

namespace baton::sim {
namespace {

constexpr std::uint64_t kGranule = 256;
constexpr std::uint64_t kGap = 256;  // after each block, so that an overrun meets nothing
constexpr std::size_t kFreedBlocksRemembered = 65536;

std::uint64_t to_multiple(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t counted(std::uint64_t bytes) {
  return to_multiple(std::max<std::uint64_t>(bytes, 1), KernelHeap::kAlignment);
}

}  // namespace

KernelHeap::KernelHeap(DeviceMemory::Impl& memory)
    : memory_(memory), begin_(memory.heap_begin), next_(begin_) {}

bool KernelHeap::set_limit(std::uint64_t bytes) {
  std::unique_lock lock(memory_.mutex);
  if (is_in_use_) return false;
  limit_ = std::min(bytes, kSpan / 2);
  return true;
}

void KernelHeap::begin_use() {
  std::unique_lock lock(memory_.mutex);
  is_in_use_ = true;
}

std::uint64_t KernelHeap::allocate(std::uint64_t bytes, std::uint64_t alignment) try {
  std::unique_lock lock(memory_.mutex);
  if (bytes > limit_ || counted(bytes) > limit_ - used_) return 0;
  const std::uint64_t base =
      find_room(to_multiple(bytes + kGap, kGranule), std::max(alignment, kGranule));
  if (base == 0) return 0;
  std::shared_ptr<Backing> backing = Backing::make(std::max<std::uint64_t>(bytes, 1));
  if (backing == nullptr) return 0;
  DeviceMemory::Impl::Allocation& block = memory_.allocations[base];
  block.size = bytes;
  block.backing = std::move(backing);
  block.backing->shadow().notes = memory_.watched;
  block.has_marks = true;  // the host writes none of it
  block.name = "a block of the kernels' heap";
  memory_.live[base] = &block;
  used_ += counted(bytes);
  next_ = base + to_multiple(bytes + kGap, kGranule);
  return base;
} catch (const std::bad_alloc&) {
  return 0;  // the host has no memory for what describes the block
}

// Addresses after the latest block, or, at their end, the first ones that no live block has.
std::uint64_t KernelHeap::find_room(std::uint64_t span, std::uint64_t alignment) {
  const std::uint64_t end = begin_ + kSpan;
  std::uint64_t base = to_multiple(next_, alignment);
  if (base < end && span <= end - base) {
    const auto found = memory_.live.lower_bound(base);
    if (found == memory_.live.end() || found->first >= base + span) return base;
  }
  forget_freed();
  base = to_multiple(begin_, alignment);
  for (auto block = memory_.live.lower_bound(begin_); block != memory_.live.end(); ++block) {
    if (block->first >= end || block->first >= base + span) break;
    base = to_multiple(block->first + block->second->size + kGap, alignment);
  }
  return base < end && span <= end - base ? base : 0;
}

void KernelHeap::forget_freed() {
  for (const std::uint64_t base : freed_) memory_.allocations.erase(base);
  freed_.clear();
}

KernelHeap::Freed KernelHeap::free(std::uint64_t address) {
  std::unique_lock lock(memory_.mutex);
  if (!has_address(address)) return Freed::kNoBlock;
  const auto found = memory_.allocations.find(address);
  if (found == memory_.allocations.end()) {
    return memory_.holding(address, 1) == memory_.allocations.end() ? Freed::kNoBlock
                                                                    : Freed::kInside;
  }
  if (found->second.backing == nullptr) return Freed::kBefore;
  used_ -= counted(found->second.size);
  found->second.backing = nullptr;
  memory_.live.erase(address);
  freed_.push_back(address);
  if (freed_.size() > kFreedBlocksRemembered) {
    memory_.allocations.erase(freed_.front());
    freed_.pop_front();
  }
  return Freed::kNow;
}

bool KernelHeap::find(std::uint64_t address, Region* region) const {
  if (!has_address(address)) return false;
  std::shared_lock lock(memory_.mutex);
  const DeviceMemory::Impl& memory = memory_;
  const auto found = memory.holding(address, 0);
  if (found == memory.allocations.end()) return false;
  const auto& [base, block] = *found;
  *region = {.base = base,
             .size = block.size,
             .host = block.backing->data(),
             .written = block.backing->written(),
             .shadow = memory_.watched ? &block.backing->shadow() : nullptr};
  return true;
}

}  // namespace baton::sim
