// Memory that the host and kernels share at one address: pinned, registered and managed.

#include <limits>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"

namespace baton::sim::api {
namespace {

// Rows of pitched memory start at a multiple of this, as on every NVIDIA GPU of these days.
constexpr std::uint64_t kPitchAlignment = 512;

}  // namespace

CUresult MemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  const std::shared_ptr<Context> context = usable_context();
  require(address != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE);
  require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE);
  require(bytes <= context->profile().memory_bytes(), CUDA_ERROR_OUT_OF_MEMORY);
  void* const pointer =
      HostMemory::instance().allocate(bytes, context->ordinal(), HostMemory::Kind::kManaged, flags);
  require(pointer != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

CUresult MemAllocPitch(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                       unsigned element) {
  require(pitch != nullptr && width != 0 && height != 0, CUDA_ERROR_INVALID_VALUE);
  require(element == 4 || element == 8 || element == 16, CUDA_ERROR_INVALID_VALUE);
  require(width <= std::numeric_limits<std::uint64_t>::max() / 2, CUDA_ERROR_OUT_OF_MEMORY);
  const std::uint64_t row = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  std::uint64_t bytes = 0;
  require(!__builtin_mul_overflow(row, std::uint64_t{height}, &bytes), CUDA_ERROR_OUT_OF_MEMORY);
  *pitch = row;
  return MemAlloc(address, bytes);
}

CUresult MemAllocHost(void** pointer, size_t bytes) {
  return MemHostAlloc(pointer, bytes, 0);
}

CUresult MemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  const std::shared_ptr<Context> context = usable_context();
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                              CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  require(pointer != nullptr && bytes != 0 && (flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE);
  require((flags & CU_MEMHOSTREGISTER_IOMEMORY) == 0, CUDA_ERROR_NOT_SUPPORTED);
  require(HostMemory::instance().take(pointer, bytes, context->ordinal(), flags),
          CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  return CUDA_SUCCESS;
}

CUresult MemHostUnregister(void* pointer) {
  enter();
  require(pointer != nullptr, CUDA_ERROR_INVALID_VALUE);
  drain_all_devices();
  require(HostMemory::instance().give_back(pointer), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  return CUDA_SUCCESS;
}

CUresult MemHostGetDevicePointer(CUdeviceptr* address, void* pointer, unsigned flags) {
  usable_context();
  require(address != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  require(HostMemory::instance().find(reinterpret_cast<std::uintptr_t>(pointer)).has_value(),
          CUDA_ERROR_INVALID_VALUE);
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

// All pinned memory is mapped, whether its caller asked for that or not.
CUresult MemHostGetFlags(unsigned* flags, void* pointer) {
  usable_context();
  const auto host = HostMemory::instance().find(reinterpret_cast<std::uintptr_t>(pointer));
  require(flags != nullptr && host && !host->is_managed(),
          CUDA_ERROR_INVALID_VALUE);
  *flags = host->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
