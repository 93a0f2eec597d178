#pragma once

#include <cstdint>
#include <string_view>

#include "shim/preload/symbol_table.h"

namespace baton::preload {

// What an object holds of NVIDIA's CUDA runtime.
enum class StaticRuntime : unsigned char {
  kNone,   // or one without symbols, which is told when it starts (shim/export_table.h)
  kNamed,  // of CUDA 13, with the names of its functions
  kOld,    // of an earlier CUDA
  // Without symbols, but with exported functions that do nothing but jump to it
  // (wrapped_runtime.h).
  kWrapped,
};

// `path`: of the object. The runtime as a library counts too.
StaticRuntime find_runtime(const SymbolTable& object, std::string_view path);

// Leads the public functions of the runtime in an object that is loaded at `base` to those of
// `own`, a handle of dlopen. False where some function could not be led.
bool take_over(const SymbolTable& object, std::uintptr_t base, void* own);

// Has an object register its kernels once more, which it did when its runtime was NVIDIA's.
void register_again(const SymbolTable& object, std::uintptr_t base);

}  // namespace baton::preload
