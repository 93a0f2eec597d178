#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "sim/device/heap.h"

namespace baton::sim {

// A texture or surface object, as its caller described it. What kernels see of it is in the
// context's TextureTable.
struct TextureObject {
  std::shared_ptr<DeviceHeap> heap;  // of its context
  bool is_surface = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
};

// What callers hold is a number (CUtexObject, CUsurfObject); a table of handles wants a pointer.
using TextureHandle = const struct TextureTag*;

inline TextureHandle to_texture_handle(unsigned long long number) {
  return reinterpret_cast<TextureHandle>(static_cast<std::uintptr_t>(number));
}

}  // namespace baton::sim
