#include "sim/device/heap.h"

#include <atomic>
#include <utility>

#include "sim/device/host_memory.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {

std::uint64_t next_buffer_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

DeviceHeap::DeviceHeap(int ordinal, std::uint64_t capacity) : memory_(ordinal, capacity) {
  HostMemory::instance().attach(memory_);
}

DeviceHeap::~DeviceHeap() {
  HostMemory::instance().detach(memory_);
  for (const auto& [address, entry] : entries_) {
    if (entry.pool != nullptr) entry.pool->give(entry.bytes);
  }
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes, std::shared_ptr<SimPool> pool) {
  if (pool != nullptr && !pool->take(bytes)) return 0;
  const std::uint64_t address = memory_.allocate(bytes);
  if (address == 0) {
    if (pool != nullptr) pool->give(bytes);
    return 0;
  }
  std::lock_guard lock(mutex_);
  entries_.emplace(address, Entry{bytes, next_buffer_id(), false, std::move(pool)});
  return address;
}

bool DeviceHeap::begin_free(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(address);
  if (found == entries_.end() || found->second.leaving) return false;
  found->second.leaving = true;
  return true;
}

void DeviceHeap::finish_free(std::uint64_t address) {
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(address);
    if (found != entries_.end()) {
      if (found->second.pool != nullptr) found->second.pool->give(found->second.bytes);
      entries_.erase(found);
    }
  }
  memory_.free(address);
}

void DeviceHeap::keep(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  entries_.at(address).leaving = false;
}

bool DeviceHeap::holds(std::uint64_t address, std::uint64_t bytes) const {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  if (memory_.impl().is_in_heap(address)) return false;
  if (!memory_.range(address, &base, &size)) return false;
  if (bytes > size - (address - base)) return false;
  std::lock_guard lock(mutex_);
  auto found = entries_.find(base);
  return found == entries_.end() || !found->second.leaving;
}

std::optional<DeviceHeap::Allocation> DeviceHeap::find(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  auto above = entries_.upper_bound(address);
  if (above == entries_.begin()) return std::nullopt;
  const auto& [base, entry] = *std::prev(above);
  if (address - base >= entry.bytes || entry.leaving) return std::nullopt;
  return Allocation{base, entry.bytes, entry.id};
}

}  // namespace baton::sim
