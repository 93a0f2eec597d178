// Memory pools: of devices, of the host, and of managed memory.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/host_pools.h"
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
    {CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &SimPool::State::reserved},
    {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &SimPool::State::reserved_high},
    {CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &SimPool::State::used},
    {CU_MEMPOOL_ATTR_USED_MEM_HIGH, &SimPool::State::used_high},
};

bool is_high_mark(CUmemPool_attribute id) {
  return id == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || id == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

bool is_host_place(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

}  // namespace

SimPool::Kind pool_kind(CUmemAllocationType type, const CUmemLocation& location) {
  const bool is_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (is_device) device_of(location.id);
  // The host has a single node.
  require(location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA || location.id == 0,
          CUDA_ERROR_INVALID_VALUE);
  require(
      is_device || is_host_place(location.type) ||
          (type == CU_MEM_ALLOCATION_TYPE_MANAGED && location.type == CU_MEM_LOCATION_TYPE_NONE),
      CUDA_ERROR_INVALID_VALUE);
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return SimPool::Kind::kManaged;
  require(type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
  return is_device ? SimPool::Kind::kDevice : SimPool::Kind::kHost;
}

namespace {

// The pool's memory for the stream; 0 where there is none.
std::uint64_t allocate(const std::shared_ptr<SimPool>& pool, SimStream& stream,
                       std::uint64_t bytes) {
  Context& context = *stream.context;
  if (pool->kind() == SimPool::Kind::kDevice) {
    const std::uint64_t address = context.heap()->allocate(bytes, pool);
    if (address != 0) context.note_allocation(stream, address);
    return address;
  }
  if (bytes > context.profile().memory_bytes()) return 0;
  const auto kind = pool->kind() == SimPool::Kind::kManaged ? HostMemory::Kind::kManaged
                                                            : HostMemory::Kind::kPinned;
  return reinterpret_cast<std::uintptr_t>(
      HostMemory::instance().allocate(bytes, context.ordinal(), kind, 0, pool));
}

}  // namespace

CUresult MemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                              CUmemAllocationType type) {
  enter();
  require(pool != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
  const SimPool::Kind kind = pool_kind(type, *location);
  *pool = kind == SimPool::Kind::kDevice ? device_of(location->id).default_pool()
                                         : HostPools::instance().default_of(kind, *location);
  return CUDA_SUCCESS;
}

CUresult MemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  enter();
  require(pool != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
  const SimPool::Kind kind = pool_kind(type, *location);
  *pool = kind == SimPool::Kind::kDevice ? device_of(location->id).current_pool()
                                         : HostPools::instance().current_of(kind, *location);
  return CUDA_SUCCESS;
}

CUresult MemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(location != nullptr && pool->kind() == pool_kind(type, *location),
          CUDA_ERROR_INVALID_VALUE);
  if (pool->kind() == SimPool::Kind::kDevice) return DeviceSetMemPool(location->id, handle);
  HostPools::instance().set_current(pool->kind(), *location, handle);
  return CUDA_SUCCESS;
}

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
  const std::shared_ptr<SimPool> asked = pool_of(pool);
  require(
      asked->kind() == SimPool::Kind::kDevice && asked->ordinal() == device_of(device).ordinal(),
      CUDA_ERROR_INVALID_VALUE);
  device_of(device).set_current_pool(pool);
  return CUDA_SUCCESS;
}

CUresult MemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  enter();
  require(pool != nullptr && properties != nullptr, CUDA_ERROR_INVALID_VALUE);
  // Pools that other processes open are not simulated.
  require(properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
  const SimPool::Kind kind = pool_kind(properties->allocType, properties->location);
  auto made = std::make_shared<SimPool>(kind, properties->location, false);
  made->change([&](SimPool::State& state) { state.largest = properties->maxSize; });
  *pool = Objects::instance().pools.add(std::move(made));
  return CUDA_SUCCESS;
}

// Memory that came from it stays.
CUresult MemPoolDestroy(CUmemoryPool handle) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(!pool->is_default(), CUDA_ERROR_INVALID_VALUE);
  Objects::instance().pools.remove(handle);
  HostPools::instance().forget(handle);
  if (pool->kind() != SimPool::Kind::kDevice) return CUDA_SUCCESS;
  SimDevice& device = device_of(pool->ordinal());
  if (device.current_pool() == handle) device.set_current_pool(device.default_pool());
  return CUDA_SUCCESS;
}

CUresult MemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  pool_of(pool)->trim(bytes);
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
    pool->change([&](SimPool::State& state) {
      const bool is_of_reserved = id == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
      const std::uint64_t now = is_of_reserved ? state.reserved : state.used;
      state.*row.field = is_high_mark(id) ? now : number;
    });
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

// No other device can be given access to a device's memory, and its own cannot be denied it. The
// host's memory is everybody's.
CUresult MemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* accesses, size_t count) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  require(count == 0 || accesses != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (std::size_t k = 0; k < count; ++k) {
    const CUmemAccessDesc& access = accesses[k];
    if (pool->kind() != SimPool::Kind::kDevice) {
      const bool is_device = access.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
      if (is_device) device_of(access.location.id);
      require(is_device || is_host_place(access.location.type), CUDA_ERROR_INVALID_VALUE);
      continue;
    }
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
  const bool is_host = pool->kind() != SimPool::Kind::kDevice;
  if (location->type == CU_MEM_LOCATION_TYPE_DEVICE) device_of(location->id);
  const bool is_own =
      is_host || (location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == pool->ordinal());
  *flags = is_own ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult MemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool handle,
                               CUstream stream_handle) {
  const std::shared_ptr<SimPool> pool = pool_of(handle);
  const std::shared_ptr<SimStream> stream = usable_stream(stream_handle);
  require(address != nullptr, CUDA_ERROR_INVALID_VALUE);
  const bool is_device = pool->kind() == SimPool::Kind::kDevice;
  require(!is_device || stream->context->ordinal() == pool->ordinal(), CUDA_ERROR_INVALID_VALUE);
  // Graphs allocate memory of devices only.
  require(is_device || !is_capturing(*stream), CUDA_ERROR_NOT_SUPPORTED);
  if (const auto captured = bytes == 0 ? std::nullopt : capture_alloc(*stream, bytes)) {
    *address = *captured;
    return CUDA_SUCCESS;
  }
  const std::uint64_t allocated = bytes == 0 ? 0 : allocate(pool, *stream, bytes);
  require(bytes == 0 || allocated != 0, CUDA_ERROR_OUT_OF_MEMORY);
  *address = allocated;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
