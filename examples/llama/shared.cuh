#pragma once

namespace llama {

// Of shared memory, as instructions of PTX take it.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace llama
