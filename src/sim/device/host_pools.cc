#include "sim/device/host_pools.h"

#include <memory>

#include "sim/device/objects.h"

namespace baton::sim {

HostPools& HostPools::instance() {
  static auto& instance = *new HostPools;
  return instance;
}

HostPools::Place HostPools::place_of(SimPool::Kind kind, const CUmemLocation& location) {
  const bool has_number = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                          location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return {kind, location.type, has_number ? location.id : 0};
}

CUmemoryPool HostPools::default_of(SimPool::Kind kind, const CUmemLocation& location) {
  std::lock_guard lock(mutex_);
  CUmemoryPool& pool = defaults_[place_of(kind, location)];
  if (pool == nullptr) {
    pool = Objects::instance().pools.add(std::make_shared<SimPool>(kind, location, true));
  }
  return pool;
}

CUmemoryPool HostPools::current_of(SimPool::Kind kind, const CUmemLocation& location) {
  {
    std::lock_guard lock(mutex_);
    const auto found = current_.find(place_of(kind, location));
    if (found != current_.end()) return found->second;
  }
  return default_of(kind, location);
}

void HostPools::set_current(SimPool::Kind kind, const CUmemLocation& location, CUmemoryPool pool) {
  std::lock_guard lock(mutex_);
  current_[place_of(kind, location)] = pool;
}

void HostPools::forget(CUmemoryPool pool) {
  std::lock_guard lock(mutex_);
  std::erase_if(current_, [&](const auto& each) { return each.second == pool; });
}

}  // namespace baton::sim
