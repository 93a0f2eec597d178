#pragma once

#include <cuda.h>

namespace baton::shim {

// An exported function of this library returned an error; does nothing where that is not asked for.
void call_failed(const void* function, CUresult result) noexcept;

// A function of this room as callers see it: its errors are told as those of the driver are.
template <auto kFunction>
struct OwnEntry;
template <typename... Arguments, CUresult (*kFunction)(Arguments...)>
struct OwnEntry<kFunction> {
  static CUresult call(Arguments... arguments) {
    const CUresult result = kFunction(arguments...);
    if (result != CUDA_SUCCESS) call_failed(reinterpret_cast<const void*>(&call), result);
    return result;
  }
};

}  // namespace baton::shim
