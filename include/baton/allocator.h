#pragma once

#include <cstddef>

#include "baton/device.h"
#include "baton/forward.h"

namespace baton {

// A source of device memory of the caller's: a pool, an arena, the allocator of a framework. Baton
// calls it from any thread, also from several at once, with the device's context current. An
// allocator outlives all memory that it gave: Baton holds it by a std::shared_ptr.
class BATON_API Allocator {
 public:
  virtual ~Allocator();

  // Returns the address of `bytes` (more than 0) of memory on the device: a multiple of 256, and no
  // part of other memory in use. Returns 0 if there is no memory left; Baton throws kOutOfMemory
  // then. An exception of its own passes through Baton.
  virtual DeviceAddress allocate(const Device& device, std::size_t bytes) = 0;
  // Takes memory back. The device has completed the work that used it.
  virtual void free(const Device& device, DeviceAddress address, std::size_t bytes) noexcept = 0;
};

}  // namespace baton
