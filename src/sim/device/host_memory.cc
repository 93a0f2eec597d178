#include "sim/device/host_memory.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "sim/device/heap.h"

namespace baton::sim {
namespace {

// Pinned memory is handed out in whole pages.
constexpr std::align_val_t kAlignment{4096};

void release(void* pointer) {
  ::operator delete(pointer, kAlignment);
}

const char* title_of(HostMemory::Kind kind) {
  switch (kind) {
    case HostMemory::Kind::kPinned:
      return "pinned memory";
    case HostMemory::Kind::kManaged:
      return "managed memory";
    case HostMemory::Kind::kVariable:
      return "a managed variable";
    case HostMemory::Kind::kRegistered:
      return "registered memory";
  }
  return "";
}

void show(DeviceMemory& memory, const HostMemory::Allocation& allocation) {
  memory.map_host(reinterpret_cast<void*>(allocation.base), allocation.bytes,
                  title_of(allocation.kind), allocation.memory);
}

}  // namespace

HostMemory& HostMemory::instance() {
  static auto& instance = *new HostMemory;
  return instance;
}

void HostMemory::add(const Allocation& allocation) {
  freed_.erase(freed_.lower_bound(allocation.base),
               freed_.lower_bound(allocation.base + allocation.bytes));
  allocations_.emplace(allocation.base, allocation);
  for (DeviceMemory* memory : devices_) show(*memory, allocation);
}

void HostMemory::remove(Allocations::iterator allocation) {
  const Allocation removed = allocation->second;
  allocations_.erase(allocation);
  for (DeviceMemory* memory : devices_) memory->unmap_host(removed.base);
  if (removed.pool != nullptr) removed.pool->give(removed.bytes);
}

// Registered memory and variables are not allocations of a call that a free ends.
void HostMemory::remove_freed(Allocations::iterator allocation) {
  const Allocation& one = allocation->second;
  if (one.kind == Kind::kPinned || one.kind == Kind::kManaged) freed_.insert(one.base);
  remove(allocation);
}

std::shared_ptr<void> HostMemory::make(std::size_t bytes) {
  // Rounded up to pages, more would be a few bytes.
  if (bytes > std::size_t{PTRDIFF_MAX}) return nullptr;
  void* const pointer = ::operator new(bytes, kAlignment, std::nothrow);
  return pointer == nullptr ? nullptr : std::shared_ptr<void>(pointer, release);
}

void* HostMemory::allocate(std::size_t bytes, int ordinal, Kind kind, unsigned flags,
                           std::shared_ptr<SimPool> pool) {
  if (pool != nullptr && !pool->take(bytes)) return nullptr;
  std::shared_ptr<void> memory = make(bytes);
  if (memory == nullptr) {
    if (pool != nullptr) pool->give(bytes);
    return nullptr;
  }
  void* const pointer = memory.get();
  Allocation made{
      reinterpret_cast<std::uintptr_t>(pointer), bytes, next_buffer_id(), ordinal, kind, flags};
  made.pool = std::move(pool);
  made.memory = std::move(memory);
  if (made.is_managed()) made.advice = std::make_shared<ManagedAdvice>(bytes);
  std::lock_guard lock(mutex_);
  add(made);
  return pointer;
}

bool HostMemory::free(void* pointer, Kind kind) {
  std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == allocations_.end() || found->second.kind != kind || found->second.leaving) {
    return false;
  }
  remove_freed(found);
  return true;
}

bool HostMemory::begin_free(std::uintptr_t address) {
  std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.pool == nullptr) return false;
  return !std::exchange(found->second.leaving, true);
}

void HostMemory::finish_free(std::uintptr_t address) {
  std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found != allocations_.end()) remove_freed(found);
}

void HostMemory::keep(std::uintptr_t address) {
  std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found != allocations_.end()) found->second.leaving = false;
}

bool HostMemory::take(void* pointer, std::size_t bytes, int ordinal, unsigned flags) {
  const auto base = reinterpret_cast<std::uintptr_t>(pointer);
  std::lock_guard lock(mutex_);
  const auto above = allocations_.lower_bound(base);
  if (above != allocations_.end() && above->first - base < bytes) return false;
  if (above != allocations_.begin()) {
    const Allocation& below = std::prev(above)->second;
    if (base - below.base < below.bytes) return false;
  }
  add({base, bytes, next_buffer_id(), ordinal, Kind::kRegistered, flags});
  return true;
}

bool HostMemory::give_back(void* pointer) {
  return free(pointer, Kind::kRegistered);
}

void HostMemory::free_all(int ordinal) {
  std::lock_guard lock(mutex_);
  for (auto each = allocations_.begin(); each != allocations_.end();) {
    const auto next = std::next(each);
    const Allocation& one = each->second;
    if (one.ordinal == ordinal && one.kind != Kind::kVariable) remove(each);
    each = next;
  }
}

std::optional<HostMemory::Allocation> HostMemory::find(std::uintptr_t address) const {
  std::lock_guard lock(mutex_);
  auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return std::nullopt;
  const Allocation& allocation = std::prev(above)->second;
  if (address - allocation.base >= allocation.bytes || allocation.leaving) return std::nullopt;
  return allocation;
}

bool HostMemory::was_freed(std::uintptr_t address) const {
  std::lock_guard lock(mutex_);
  const auto leaving = allocations_.find(address);
  if (leaving != allocations_.end()) return leaving->second.leaving;
  return freed_.contains(address);
}

void HostMemory::attach(DeviceMemory& memory) {
  std::lock_guard lock(mutex_);
  devices_.push_back(&memory);
  for (const auto& [base, allocation] : allocations_) show(memory, allocation);
}

void HostMemory::detach(DeviceMemory& memory) {
  std::lock_guard lock(mutex_);
  std::erase(devices_, &memory);
}

}  // namespace baton::sim
