// Memory pools.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

std::shared_ptr<SimPool> pool_of(CUmemoryPool handle) {
  enter();
  std::shared_ptr<SimPool> pool = Objects::instance().pools.find(handle);
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
  return pool;
}

// Of the attributes, those that callers may set are numbers of 32 bits or of 64.
template <typename T>
struct PoolAttribute {
  CUmemPool_attribute id;
  T SimPool::State::*field;
};

constexpr PoolAttribute<int> kPoolFlags[] = {
    {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &SimPool::State::follow_event_dependencies},
    {CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &SimPool::State::allow_opportunistic},
    {CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
     &SimPool::State::allow_internal_dependencies},
};

constexpr PoolAttribute<std::uint64_t> kPoolSizes[] = {
    {CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &SimPool::State::release_threshold},
    {CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &SimPool::State::used},
    {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &SimPool::State::reserved_high},
    {CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &SimPool::State::used},
    {CU_MEMPOOL_ATTR_USED_MEM_HIGH, &SimPool::State::used_high},
};

bool is_high_mark(CUmemPool_attribute id) {
  return id == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || id == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

}  // namespace

CUresult DeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  enter();
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
  *pool = device_of(device).default_pool();
  return CUDA_SUCCESS;
}

CUresult DeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  enter();
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
  *pool = device_of(device).current_pool();
  return CUDA_SUCCESS;
}

CUresult DeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  require(pool_of(pool)->ordinal() == device_of(device).ordinal(), CUDA_ERROR_INVALID_VALUE);
  device_of(device).set_current_pool(pool);
  return CUDA_SUCCESS;
}

CUresult MemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  enter();
  require(pool != nullptr && properties != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
  // Pools that other processes open, and pools of the host's memory, are not simulated.
  require(properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
  require(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  auto made = std::make_shared<SimPool>(device_of(properties->location.id).ordinal(), false);
  made->change([&](SimPool::State& state) { state.largest = properties->maxSize; });
  *pool = Objects::instance().pools.add(std::move(made));
  return CUDA_SUCCESS;
}

// Memory that came from it stays.
CUresult MemPoolDestroy(CUmemoryPool handle) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(!pool->is_default(), CUDA_ERROR_INVALID_VALUE);
  Objects::instance().pools.remove(handle);
  SimDevice& device = device_of(pool->ordinal());
  if (device.current_pool() == handle) device.set_current_pool(device.default_pool());
  return CUDA_SUCCESS;
}

CUresult MemPoolTrimTo(CUmemoryPool pool, size_t) {
  pool_of(pool);
  return CUDA_SUCCESS;
}

CUresult MemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute id, void* value) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& row : kPoolFlags) {
    if (row.id != id) continue;
    pool->change([&](SimPool::State& state) { state.*row.field = *static_cast<int*>(value); });
    return CUDA_SUCCESS;
  }
  const std::uint64_t number = *static_cast<cuuint64_t*>(value);
  // A mark can only be reset.
  require(id == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || (is_high_mark(id) && number == 0),
          CUDA_ERROR_INVALID_VALUE);
  for (const auto& row : kPoolSizes) {
    if (row.id != id) continue;
    pool->change(
        [&](SimPool::State& state) { state.*row.field = is_high_mark(id) ? state.used : number; });
  }
  return CUDA_SUCCESS;
}

CUresult MemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute id, void* value) {
  const SimPool::State state = pool_of(handle)->state();
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& row : kPoolFlags) {
    if (row.id == id) return *static_cast<int*>(value) = state.*row.field, CUDA_SUCCESS;
  }
  for (const auto& row : kPoolSizes) {
    if (row.id == id) return *static_cast<cuuint64_t*>(value) = state.*row.field, CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// No other device can be given access, and its own cannot be denied it.
CUresult MemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* accesses, size_t count) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(count == 0 || accesses != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (std::size_t k = 0; k < count; ++k) {
    const CUmemAccessDesc& access = accesses[k];
    require(access.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                device_of(access.location.id).ordinal() == pool->ordinal() &&
                access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}

CUresult MemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(flags != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
  const bool is_own = location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
                      device_of(location->id).ordinal() == pool->ordinal();
  *flags = is_own ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult MemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool handle,
                               CUstream stream_handle) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  const std::shared_ptr<SimStream> stream = usable_stream(stream_handle);
  require(address != nullptr && stream->context->ordinal() == pool->ordinal(),
          CUDA_ERROR_INVALID_VALUE);
  if (const auto captured = bytes == 0 ? std::nullopt : capture_alloc(*stream, bytes)) {
    *address = *captured;
    return CUDA_SUCCESS;
  }
  const std::uint64_t allocated = bytes == 0 ? 0 : stream->context->heap()->allocate(bytes, pool);
  require(bytes == 0 || allocated != 0, CUDA_ERROR_OUT_OF_MEMORY);
  *address = allocated;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
