// Virtual memory: addresses that are reserved, physical memory, and what is mapped where.

#include <algorithm>
#include <memory>
#include <optional>

#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/objects.h"
#include "sim/device/virtual_ranges.h"

namespace baton::sim::api {
namespace {

constexpr std::uint64_t kGranularity = VirtualRanges::kGranularity;

bool is_granular(std::uint64_t address, std::uint64_t bytes) {
  return bytes != 0 && address % kGranularity == 0 && bytes % kGranularity == 0;
}

// The context whose device has reserved the address. Throws Refusal(CUDA_ERROR_INVALID_VALUE).
std::shared_ptr<Context> reserver_of(CUdeviceptr address) {
  enter();
  for (SimDevice* const device : SimDevice::all()) {
    std::shared_ptr<Context> context = device->context();
    if (context != nullptr && context->heap()->ranges().has(address)) return context;
  }
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

PhysicalHandle handle_of_memory(CUmemGenericAllocationHandle number) {
  return reinterpret_cast<PhysicalHandle>(static_cast<std::uintptr_t>(number));
}

std::shared_ptr<PhysicalMemory> memory_of(CUmemGenericAllocationHandle number) {
  enter();
  std::shared_ptr<PhysicalMemory> memory =
      Objects::instance().physical.find(handle_of_memory(number));
  require(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
  return memory;
}

// Memory of a device alone. Programs may ask for memory that they could hand to other processes by
// a file descriptor; handing it over is what is refused.
SimDevice& allocating_device(const CUmemAllocationProp* properties) {
  require(properties != nullptr && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED,
          CUDA_ERROR_INVALID_VALUE);
  constexpr int kTaken = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  require(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
              (properties->requestedHandleTypes & ~kTaken) == 0,
          CUDA_ERROR_NOT_SUPPORTED);
  return device_of(properties->location.id);
}

}  // namespace

CUresult MemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                     CUmemAllocationGranularity_flags) {
  enter();
  require(bytes != nullptr, CUDA_ERROR_INVALID_VALUE);
  allocating_device(properties);
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}

// The address that the caller would like is not looked at. The current context's device has the
// addresses, and memory of others cannot be mapped there.
CUresult MemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr,
                           unsigned long long flags) {
  const std::shared_ptr<Context> context = usable_context();
  require(address != nullptr && flags == 0 && is_granular(0, bytes) &&
              (alignment & (alignment - 1)) == 0,
          CUDA_ERROR_INVALID_VALUE);
  *address = context->heap()->ranges().reserve(bytes, std::max(alignment, kGranularity));
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult MemAddressFree(CUdeviceptr address, size_t bytes) {
  return reserver_of(address)->heap()->ranges().end_reserve(address, bytes);
}

CUresult MemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                   const CUmemAllocationProp* properties, unsigned long long flags) {
  enter();
  require(handle != nullptr && flags == 0 && is_granular(0, bytes), CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Context> context = allocating_device(properties).context();
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  *handle = reinterpret_cast<std::uintptr_t>(Objects::instance().physical.add(
      std::make_shared<PhysicalMemory>(context->heap(), bytes, *properties)));
  return CUDA_SUCCESS;
}

// What is mapped stays until it is unmapped.
CUresult MemRelease(CUmemGenericAllocationHandle handle) {
  const std::shared_ptr<PhysicalMemory> memory = memory_of(handle);
  if (--memory->holders == 0) Objects::instance().physical.remove(handle_of_memory(handle));
  return CUDA_SUCCESS;
}

CUresult MemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  const auto mapped = reserver_of(address)->heap()->ranges().find(address);
  require(handle != nullptr && mapped.has_value(), CUDA_ERROR_INVALID_VALUE);
  ++mapped->memory->holders;
  *handle = 0;
  Objects::instance().physical.each([&](PhysicalHandle each, const PhysicalMemory& memory) {
    if (&memory == mapped->memory.get()) *handle = reinterpret_cast<std::uintptr_t>(each);
  });
  // Its handle was released, and it has another one from now on.
  if (*handle == 0) {
    *handle = reinterpret_cast<std::uintptr_t>(Objects::instance().physical.add(mapped->memory));
  }
  return CUDA_SUCCESS;
}

CUresult MemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                              CUmemGenericAllocationHandle handle) {
  const std::shared_ptr<PhysicalMemory> memory = memory_of(handle);
  require(properties != nullptr, CUDA_ERROR_INVALID_VALUE);
  *properties = memory->properties();
  return CUDA_SUCCESS;
}

CUresult MemMap(CUdeviceptr address, size_t bytes, size_t offset,
                CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const std::shared_ptr<PhysicalMemory> memory = memory_of(handle);
  require(offset == 0 && flags == 0 && is_granular(address, bytes), CUDA_ERROR_INVALID_VALUE);
  return reserver_of(address)->heap()->ranges().map(address, bytes, memory);
}

// Does not wait for kernels that use the memory, as a GPU's driver does not promise to.
CUresult MemUnmap(CUdeviceptr address, size_t bytes) {
  return reserver_of(address)->heap()->ranges().unmap(address, bytes);
}

CUresult MemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* descriptions,
                      size_t count) {
  const std::shared_ptr<Context> owner = reserver_of(address);
  require(descriptions != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
  std::optional<bool> opens;
  for (size_t k = 0; k < count; ++k) {
    const CUmemAccessDesc& each = descriptions[k];
    // Memory that kernels may only read is not simulated, nor are other devices.
    require(each.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                each.location.id == owner->ordinal() && each.flags != CU_MEM_ACCESS_FLAGS_PROT_READ,
            CUDA_ERROR_NOT_SUPPORTED);
    require(each.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                each.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            CUDA_ERROR_INVALID_VALUE);
    opens = each.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  return owner->heap()->ranges().set_access(address, bytes, *opens);
}

CUresult MemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                      CUdeviceptr address) {
  const std::shared_ptr<Context> owner = reserver_of(address);
  const auto mapped = owner->heap()->ranges().find(address);
  require(flags != nullptr && location != nullptr && mapped.has_value(), CUDA_ERROR_INVALID_VALUE);
  const bool is_own =
      location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == owner->ordinal();
  *flags = is_own && mapped->is_open ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                     : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
