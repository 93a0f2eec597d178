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
  entries_.emplace(address, Entry{.bytes = bytes, .id = next_buffer_id(), .pool = std::move(pool)});
  return address;
}

bool DeviceHeap::begin_free(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(address);
  if (found == entries_.end() || found->second.leaving) return false;
  Entry& entry = found->second;
  if (entry.reserved && !std::exchange(entry.claimed, false)) return false;
  entry.leaving = !entry.reserved || entry.orphaned;
  return true;
}

void DeviceHeap::finish_free(std::uint64_t address) {
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(address);
    if (found != entries_.end() && found->second.reserved) {
      if (empty_reserved(address, found->second)) {
        graph_bytes_ -= found->second.bytes;
        found->second.has_memory = false;
      }
      if (found->second.orphaned) entries_.erase(found);
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
  const auto found = entries_.find(address);
  if (found == entries_.end()) return;
  found->second.leaving = false;
  found->second.claimed = found->second.reserved;
}

bool DeviceHeap::holds(std::uint64_t address, std::uint64_t bytes) const {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  {
    std::lock_guard lock(mutex_);
    const Entry* const entry = around(address, &base);
    if (entry != nullptr && entry->reserved) {
      return !entry->leaving && bytes <= entry->bytes - (address - base);
    }
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
std::uint64_t DeviceHeap::reserve(std::uint64_t bytes, bool on_host) {
  if (on_host) {
    if (bytes > memory_.capacity()) return 0;
    std::shared_ptr<void> host = HostMemory::make(bytes);
    if (host == nullptr) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(host.get());
    std::lock_guard lock(mutex_);
    entries_.emplace(
        address,
        Entry{.bytes = bytes, .id = next_buffer_id(), .reserved = true, .host = std::move(host)});
    return address;
  }
  const std::uint64_t address = memory_.allocate(bytes);
  if (address == 0) return 0;
  memory_.free(address);
  std::lock_guard lock(mutex_);
  entries_.emplace(address, Entry{.bytes = bytes, .id = next_buffer_id(), .reserved = true});
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
  Entry& entry = entries_.at(address);
  const std::uint64_t bytes = entry.bytes;
  if (entry.host != nullptr) {
    memory_.map_host(entry.host.get(), bytes, "memory of the host in a graph", entry.host);
  } else if (!memory_.allocate_again(address, bytes)) {
    return false;
  }
  graph_bytes_ += bytes;
  entry.has_memory = true;
  if (!std::exchange(entry.is_in_use, true)) graph_in_use_ += bytes;
  note_graph_use();
  return true;
}

// Nodes that have their memory one after the other share it, so that no more is in use than is
// reserved.
void DeviceHeap::note_graph_use() {
  graph_use_.reserved = std::max(graph_use_.reserved, graph_bytes_);
  graph_use_.used = std::min(graph_use_.reserved, graph_in_use_);
  graph_use_.reserved_high = std::max(graph_use_.reserved_high, graph_use_.reserved);
  graph_use_.used_high = std::max(graph_use_.used_high, graph_use_.used);
}

bool DeviceHeap::empty_reserved(std::uint64_t address, const Entry& entry) {
  if (entry.host == nullptr) return memory_.free(address);
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  if (!memory_.range(address, &base, &bytes)) return false;
  memory_.unmap_host(address);
  return true;
}

void DeviceHeap::end_reserve(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  // Commands that allocate keep the address, so none is left. Where the context failed before, the
  // allocation node never ran.
  if (!memory_.range(address, &base, &bytes)) {
    if (entry.is_in_use) graph_in_use_ -= entry.bytes;
    entries_.erase(found);
    note_graph_use();
    return;
  }
  // Memory that has no owner is about to be freed.
  entry.orphaned = true;
  entry.leaving = !entry.claimed;
}

void DeviceHeap::note_free(std::uint64_t address, const std::shared_ptr<Command>& command) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  if (found != entries_.end()) found->second.last_free = command;
}

std::shared_ptr<Command> DeviceHeap::last_free(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  return found == entries_.end() ? nullptr : found->second.last_free.lock();
}

DeviceHeap::GraphUse DeviceHeap::graph_use() const {
  std::lock_guard lock(mutex_);
  return graph_use_;
}

void DeviceHeap::trim_graph_memory() {
  std::lock_guard lock(mutex_);
  for (auto& [address, entry] : entries_) entry.is_in_use = entry.has_memory;
  graph_in_use_ = graph_use_.reserved = graph_bytes_;
  note_graph_use();
}

void DeviceHeap::reset_graph_used_high() {
  std::lock_guard lock(mutex_);
  graph_use_.used_high = graph_use_.used;
}

void DeviceHeap::reset_graph_reserved_high() {
  std::lock_guard lock(mutex_);
  graph_use_.reserved_high = graph_use_.reserved;
}

bool DeviceHeap::is_leaving(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(address);
  return found != entries_.end() && found->second.leaving;
}

DeviceHeap::Leaks DeviceHeap::leaks() const {
  std::lock_guard lock(mutex_);
  Leaks leaks;
  for (const auto& [address, entry] : entries_) {
    if (entry.leaving || (entry.reserved && !entry.claimed)) continue;
    if (leaks.count++ == 0) leaks.first = address;
    leaks.bytes += entry.bytes;
  }
  return leaks;
}

std::optional<DeviceHeap::Allocation> DeviceHeap::find(std::uint64_t address) const {
  std::lock_guard lock(mutex_);
  auto above = entries_.upper_bound(address);
  if (above == entries_.begin()) return std::nullopt;
  const auto& [base, entry] = *std::prev(above);
  if (address - base >= entry.bytes || entry.leaving) return std::nullopt;
  return Allocation{base, entry.bytes, entry.id, entry.pool};
}

}  // namespace baton::sim
