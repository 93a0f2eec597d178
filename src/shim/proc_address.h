#pragma once

#include <string_view>

namespace baton::shim {

// The functions that the library itself has, beside those of the simulated driver: the two versions
// of cuGetProcAddress, cuGetExportTable and cuDeviceGetAttribute. Null for any other symbol.
void* own_function(std::string_view symbol);

}  // namespace baton::shim
