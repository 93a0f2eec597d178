#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "sim/device/heap.h"

namespace baton::sim {

// The memory of an allocation node: an address that stays as long as a graph, an instance or a
// command has it. Between the node's run and that of a free, there is memory at the address.
class GraphMemory {
 public:
  // What the properties name: memory of the heap's device, or of the host, pinned or managed.
  // Throws Refusal(CUDA_ERROR_OUT_OF_MEMORY).
  GraphMemory(std::shared_ptr<DeviceHeap> heap, std::uint64_t bytes,
              const CUmemPoolProps& properties);
  ~GraphMemory() { heap_->end_reserve(address_); }
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  const std::shared_ptr<DeviceHeap>& heap() const { return heap_; }
  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return bytes_; }
  const CUmemPoolProps& properties() const { return properties_; }

 private:
  const std::shared_ptr<DeviceHeap> heap_;
  const std::uint64_t bytes_;
  const CUmemPoolProps properties_;
  const std::uint64_t address_;
};

}  // namespace baton::sim
