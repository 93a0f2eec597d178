#include "sim/graph/graph_memory.h"

#include <utility>

#include "sim/api/refusal.h"

namespace baton::sim {

GraphMemory::GraphMemory(std::shared_ptr<DeviceHeap> heap, std::uint64_t bytes)
    : heap_(std::move(heap)), bytes_(bytes), address_(heap_->reserve(bytes)) {
  require(address_ != 0, CUDA_ERROR_OUT_OF_MEMORY);
}

}  // namespace baton::sim
