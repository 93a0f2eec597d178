// Memory, of devices and of the host, and pools.

#include "shim/cudart/fat_binaries.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::stream_of;

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

CUdeviceptr* address_in(void** pointer) {
  return reinterpret_cast<CUdeviceptr*>(pointer);
}

}  // namespace

// No bytes are not an error here, and a null pointer.
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  BATON_RUNTIME_BEGIN();
  if (pointer == nullptr) return answer(cudaErrorInvalidValue);
  *pointer = nullptr;
  return bytes == 0 ? cudaSuccess : answer(cuMemAlloc(address_in(pointer), bytes));
}

cudaError_t cudaFree(void* pointer) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemFree(address_of(pointer)));
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemAllocManaged(address_in(pointer), bytes, flags));
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemHostAlloc(pointer, bytes, flags));
}

cudaError_t cudaFreeHost(void* pointer) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemFreeHost(pointer));
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemAllocPitch(address_in(pointer), pitch, width, height, 4));
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  BATON_RUNTIME_BEGIN();
  if (pointer == nullptr) return answer(cudaErrorInvalidValue);
  size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return answer(cudaErrorMemoryAllocation);
  }
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return answer(cuMemAllocPitch(address_in(&pointer->ptr), &pointer->pitch, extent.width, rows, 4));
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemHostRegister(pointer, bytes, flags));
}

cudaError_t cudaHostUnregister(void* pointer) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemHostUnregister(pointer));
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemHostGetDevicePointer(address_in(device), host, flags));
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemHostGetFlags(flags, pointer));
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemGetInfo(free, total));
}

// Memory that no call knows is the program's own, and no error.
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  BATON_RUNTIME_BEGIN();
  if (attributes == nullptr) return answer(cudaErrorInvalidValue);
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned type = 0;
  unsigned is_managed = 0;
  int device = 0;
  void* data[] = {&type, &is_managed, &device};
  if (const CUresult result = cuPointerGetAttributes(3, asked, data, address_of(pointer))) {
    return answer(result);
  }
  *attributes = {};
  attributes->device = device;
  attributes->type = is_managed != 0                ? cudaMemoryTypeManaged
                     : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                     : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeUnregistered;
  auto* const address = const_cast<void*>(pointer);
  if (type != 0) attributes->devicePointer = address;
  if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = address;
  return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  BATON_RUNTIME_BEGIN();
  if (pointer == nullptr) return answer(cudaErrorInvalidValue);
  size_t bytes = 0;
  return answer(
      baton::cudart::FatBinaries::instance().variable(symbol, address_in(pointer), &bytes));
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  BATON_RUNTIME_BEGIN();
  if (bytes == nullptr) return answer(cudaErrorInvalidValue);
  CUdeviceptr address = 0;
  return answer(baton::cudart::FatBinaries::instance().variable(symbol, &address, bytes));
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemAllocAsync(address_in(pointer), bytes, stream_of(stream)));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemFreeAsync(address_of(pointer), stream_of(stream)));
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemAllocFromPoolAsync(address_in(pointer), bytes, pool, stream_of(stream)));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGetMemPool(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceSetMemPool(device, pool));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPoolTrimTo(pool, bytes));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 size_t count) {
  static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
  BATON_RUNTIME_BEGIN();
  return answer(
      cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(accesses), count));
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool,
                                   reinterpret_cast<CUmemLocation*>(location)));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));
  BATON_RUNTIME_BEGIN();
  return answer(cuMemGetDefaultMemPool(pool, reinterpret_cast<CUmemLocation*>(location),
                                       static_cast<CUmemAllocationType>(type)));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemGetMemPool(pool, reinterpret_cast<CUmemLocation*>(location),
                                static_cast<CUmemAllocationType>(type)));
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemSetMemPool(reinterpret_cast<CUmemLocation*>(location),
                                static_cast<CUmemAllocationType>(type), pool));
}
