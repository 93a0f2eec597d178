#include "sim/device/host_memory.h"

#include <new>

#include "sim/device/heap.h"

namespace baton::sim {
namespace {

// Pinned memory is handed out in whole pages.
constexpr std::align_val_t kAlignment{4096};

void release(std::uintptr_t base) {
  ::operator delete(reinterpret_cast<void*>(base), kAlignment);
}

}  // namespace

HostMemory& HostMemory::instance() {
  static auto& instance = *new HostMemory;
  return instance;
}

void* HostMemory::allocate(std::size_t bytes, int ordinal) {
  void* pointer = ::operator new(bytes, kAlignment, std::nothrow);
  if (pointer == nullptr) return nullptr;
  const auto base = reinterpret_cast<std::uintptr_t>(pointer);
  std::lock_guard lock(mutex_);
  allocations_.emplace(base, Allocation{base, bytes, next_buffer_id(), ordinal});
  return pointer;
}

bool HostMemory::free(void* pointer) {
  const auto base = reinterpret_cast<std::uintptr_t>(pointer);
  {
    std::lock_guard lock(mutex_);
    if (allocations_.erase(base) == 0) return false;
  }
  release(base);
  return true;
}

void HostMemory::free_all(int ordinal) {
  std::lock_guard lock(mutex_);
  std::erase_if(allocations_, [&](const auto& entry) {
    if (entry.second.ordinal != ordinal) return false;
    release(entry.first);
    return true;
  });
}

std::optional<HostMemory::Allocation> HostMemory::find(std::uintptr_t address) const {
  std::lock_guard lock(mutex_);
  auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return std::nullopt;
  const Allocation& allocation = std::prev(above)->second;
  if (address - allocation.base >= allocation.bytes) return std::nullopt;
  return allocation;
}

}  // namespace baton::sim
