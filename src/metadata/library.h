#pragma once

#include <string>
#include <string_view>

#include "baton/metadata.h"

namespace baton::metadata {

// A shared library, executable or object file that TVM or tvm-ffi wrote: the modules that the data
// symbol __tvm_ffi__library_bin holds, and the images behind __tvm_ffi__cubin_NAME, which the
// symbol table of a file that is not stripped still names.
void read_library(std::string_view bytes, const std::string& name, FoundMetadata& found);

// The bytes behind that data symbol.
void read_library_bytes(std::string_view bytes, const std::string& name, FoundMetadata& found);

}  // namespace baton::metadata
