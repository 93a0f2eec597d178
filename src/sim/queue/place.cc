#include "sim/queue/place.h"

#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"

namespace baton::sim {

CopySide device_place(CUdeviceptr address, std::uint64_t bytes) {
  if (const std::shared_ptr<Context> owner = owner_of(address)) {
    require(owner->heap()->holds(address, bytes), CUDA_ERROR_INVALID_VALUE);
    return {owner->heap(), address};
  }
  const auto pinned = HostMemory::instance().find(address);
  require(pinned && bytes <= pinned->bytes - (address - pinned->base), CUDA_ERROR_INVALID_VALUE);
  return {nullptr, address};
}

CopySide host_place(const void* pointer, std::uint64_t bytes, bool* pageable) {
  require(pointer != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  *pageable = owner_of(address) == nullptr && !HostMemory::instance().find(address);
  return *pageable ? CopySide{nullptr, address} : device_place(address, bytes);
}

}  // namespace baton::sim
