#pragma once

#include <filesystem>

#include "baton/export.h"

namespace baton {

// Writes a bundle as a shared library of data, without code, for this processor. tvm-ffi loads it
// as a module, if Baton's adapter is registered (docs/tvm-ffi.md). The library has a copy of the
// bundle, whose files beside it are not found from there. The file is replaced whole or not at all.
// Throws kNotFound if the bundle cannot be read; kInvalidInput if it is none or is damaged, and for
// a file that cannot be written. Thread-safe.
BATON_API void write_tvm_library(const std::filesystem::path& bundle,
                                 const std::filesystem::path& library);

}  // namespace baton
