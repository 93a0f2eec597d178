#pragma once

#include <cuda.h>

#include <cstdint>

#include "sim/queue/command.h"

namespace baton::sim {

// Where an address that the caller calls a device's lies: device memory, or pinned memory, which
// shares the address space. Throws Refusal(CUDA_ERROR_INVALID_VALUE) where not all of it is live.
CopySide device_place(CUdeviceptr address, std::uint64_t bytes);

// The same for a pointer that the caller calls the host's, which may be any.
CopySide host_place(const void* pointer, std::uint64_t bytes, bool* pageable);

}  // namespace baton::sim
