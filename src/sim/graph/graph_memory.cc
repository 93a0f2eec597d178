#include "sim/graph/graph_memory.h"

#include <utility>

#include "sim/api/refusal.h"

namespace baton::sim {
namespace {

bool is_on_host(const CUmemPoolProps& properties) {
  return properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ||
         properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace

GraphMemory::GraphMemory(std::shared_ptr<DeviceHeap> heap, std::uint64_t bytes,
                         const CUmemPoolProps& properties)
    : heap_(std::move(heap)),
      bytes_(bytes),
      properties_(properties),
      address_(heap_->reserve(bytes, is_on_host(properties))) {
  require(address_ != 0, CUDA_ERROR_OUT_OF_MEMORY);
}

}  // namespace baton::sim
