#pragma once

// The library that the preload opens when a program asks for a function that hands machine code
// over: libbaton_kept.so. It has functions of the same names that keep the PTX inside
// (image/kept_ptx.h).

#include <cstddef>

extern "C" {

using BatonFindFunction = void* (*)(void* library, const char* name);

// The function to call in place of `real`, which `name` was found to be; null: that one. `find` is
// the system's dlsym. Thread-safe.
__attribute__((visibility("default"))) void* baton_kept_hook(const char* name, void* real,
                                                             BatonFindFunction find);

// Writes the cubin with the PTX inside to `made`, which has `room` bytes, and returns its size: 0
// where the PTX cannot be kept, or where there is no room. The processes of Python call it.
__attribute__((visibility("default"))) std::size_t baton_keep_ptx(const char* cubin,
                                                                  std::size_t cubin_bytes,
                                                                  const char* ptx,
                                                                  std::size_t ptx_bytes, char* made,
                                                                  std::size_t room);
}

namespace baton::kept {

// The functions for NVRTC and nvJitLink; null for other names. `name` is without a version.
void* nvrtc_hook(const char* name, void* library, BatonFindFunction find);
void* link_hook(const char* name, void* library, BatonFindFunction find);

}  // namespace baton::kept
