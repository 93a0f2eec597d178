#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>

namespace baton::sim {

// What callers set of a device's context. The limits begin as
// the CUDA programming guide gives them.
struct ContextSettings {
  unsigned flags = 0;
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
  std::array<std::size_t, CU_LIMIT_MAX> limits = {
      1024,     // CU_LIMIT_STACK_SIZE
      1 << 20,  // CU_LIMIT_PRINTF_FIFO_SIZE
      8 << 20,  // CU_LIMIT_MALLOC_HEAP_SIZE
      0,        // CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH
      2048,     // CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
      64,       // CU_LIMIT_MAX_L2_FETCH_GRANULARITY
      0,       0, 0, 0,
  };
};

}  // namespace baton::sim
