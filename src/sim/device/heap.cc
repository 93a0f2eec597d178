#include "sim/device/heap.h"

#include <algorithm>
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
  entries_.emplace(address, Entry{bytes, next_buffer_id(), false, false, false, std::move(pool)});
  return address;
}

bool DeviceHeap::begin_free(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(address);
  if (found == entries_.end() || found->second.leaving) return false;
  if (found->second.reserved) return std::exchange(found->second.claimed, false);
  found->second.leaving = true;
  return true;
}

void DeviceHeap::finish_free(std::uint64_t address) {
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(address);
    if (found != entries_.end() && found->second.reserved) {
      if (memory_.free(address)) graph_use_.bytes -= found->second.bytes;
      return;
    }
    if (found != entries_.end()) {
      if (found->second.pool != nullptr) found->second.pool->give(found->second.bytes);
      entries_.erase(found);
    }
  }
  memory_.free(address);
}

void DeviceHeap::keep(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(address);
  entry.leaving = false;
  entry.claimed = entry.reserved;
}

bool DeviceHeap::holds(std::uint64_t address, std::uint64_t bytes) const {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  {
    std::lock_guard lock(mutex_);
    const Entry* const entry = around(address, &base);
    if (entry != nullptr && entry->reserved) return bytes <= entry->bytes - (address - base);
  }
  if (memory_.impl().is_in_heap(address)) return false;
  if (!memory_.range(address, &base, &size)) return false;
  if (bytes > size - (address - base)) return false;
  std::lock_guard lock(mutex_);
  auto found = entries_.find(base);
  return found == entries_.end() || !found->second.leaving;
}

const DeviceHeap::Entry* DeviceHeap::around(std::uint64_t address, std::uint64_t* base) const {
  const auto above = entries_.upper_bound(address);
  if (above == entries_.begin()) return nullptr;
  const auto found = std::prev(above);
  if (address - found->first >= found->second.bytes) return nullptr;
  *base = found->first;
  return &found->second;
}

// The address is that of an allocation which is gone at once, so that whoever uses it too early is
// told that there is no memory.
std::uint64_t DeviceHeap::reserve(std::uint64_t bytes) {
  const std::uint64_t address = memory_.allocate(bytes);
  if (address == 0) return 0;
  memory_.free(address);
  std::lock_guard lock(mutex_);
  entries_.emplace(address, Entry{bytes, next_buffer_id(), false, true, false, nullptr});
  return address;
}

bool DeviceHeap::claim(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  return !std::exchange(entries_.at(address).claimed, true);
}

bool DeviceHeap::is_claimed(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  return found != entries_.end() && found->second.claimed;
}

bool DeviceHeap::is_reserved(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  std::uint64_t base = 0;
  const Entry* const entry = around(address, &base);
  return entry != nullptr && entry->reserved;
}

bool DeviceHeap::fill_reserved(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  const std::uint64_t bytes = entries_.at(address).bytes;
  if (!memory_.allocate_again(address, bytes)) return false;
  graph_use_.bytes += bytes;
  graph_use_.high = std::max(graph_use_.high, graph_use_.bytes);
  return true;
}

void DeviceHeap::end_reserve(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  if (found == entries_.end()) return;
  if (!found->second.claimed) {
    entries_.erase(found);
    return;
  }
  found->second.reserved = found->second.claimed = false;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  // Where the context failed before, the allocation node never ran.
  if (memory_.range(address, &base, &bytes)) graph_use_.bytes -= bytes;
}

DeviceHeap::GraphUse DeviceHeap::graph_use() const {
  std::lock_guard lock(mutex_);
  return graph_use_;
}

void DeviceHeap::reset_graph_high() {
  std::lock_guard lock(mutex_);
  graph_use_.high = graph_use_.bytes;
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
