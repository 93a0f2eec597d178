// Advice about managed memory.

#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::stream_of;

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

CUdeviceptr* addresses_of(void** pointers) {
  return reinterpret_cast<CUdeviceptr*>(pointers);
}

CUmemLocation location_of(const cudaMemLocation& location) {
  return {static_cast<CUmemLocationType>(location.type), location.id};
}

CUmemLocation* locations_of(cudaMemLocation* locations) {
  static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));
  return reinterpret_cast<CUmemLocation*>(locations);
}

}  // namespace

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemAdvise(address_of(pointer), bytes, static_cast<CUmem_advise>(advice),
                            location_of(location)));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPrefetchAsync(address_of(pointer), bytes, location_of(location), flags,
                                   stream_of(stream)));
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                      cudaMemLocation* locations, size_t* indices,
                                      size_t location_count, unsigned long long flags,
                                      cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemPrefetchBatchAsync(addresses_of(pointers), sizes, count,
                                        locations_of(locations), indices, location_count, flags,
                                        stream_of(stream)));
}

cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuMemDiscardBatchAsync(addresses_of(pointers), sizes, count, flags, stream_of(stream)));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                cudaMemLocation* locations, size_t* indices,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemDiscardAndPrefetchBatchAsync(addresses_of(pointers), sizes, count,
                                                  locations_of(locations), indices, location_count,
                                                  flags, stream_of(stream)));
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemRangeGetAttribute(
      data, data_bytes, static_cast<CUmem_range_attribute>(attribute), address_of(pointer), bytes));
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t bytes) {
  BATON_RUNTIME_BEGIN();
  return answer(cuMemRangeGetAttributes(data, data_bytes,
                                        reinterpret_cast<CUmem_range_attribute*>(attributes), count,
                                        address_of(pointer), bytes));
}
