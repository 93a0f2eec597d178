#pragma once

#include <cstdint>

#include "shim/preload/symbol_table.h"

namespace baton::preload {

// NVIDIA's libraries of machine code have a runtime of their own, which the simulated driver cannot
// start. Some make handles nevertheless, and crash when those are used. Where the object is such a
// library, the function that makes handles fails as it does without a GPU.
void refuse_handles(const SymbolTable& object, std::uintptr_t base);

}  // namespace baton::preload
