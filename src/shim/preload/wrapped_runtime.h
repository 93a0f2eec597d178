#pragma once

#include <cstdint>

#include "shim/preload/symbol_table.h"

namespace baton::preload {

// A runtime that is linked into a library and stripped, where the library exports its functions
// under names of its own: _cudaMalloc jumps to cudaMalloc, and _cuLibraryUnload calls the driver's
// function that it asks the runtime for. libcute_dsl_runtime.so of CuTe DSL is such a library.

// Whether an object without the runtime's symbols exports such functions.
bool has_wrappers(const SymbolTable& object);

// Leads the functions that the wrappers jump to, and the wrappers of the driver's, to those of
// `runtime` and `driver`, handles of dlopen. False where some function could not be led.
bool take_over_wrapped(const SymbolTable& object, std::uintptr_t base, void* runtime, void* driver);

}  // namespace baton::preload
