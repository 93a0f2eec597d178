#pragma once

#include <string_view>
#include <vector>

#include "compile/nvrtc/diagnostics.h"

namespace baton::compiler {

// Host code shows by its launches (IncludeScan::mentions_launch). Where a source has some that
// launches nothing, it shows when the compiler misses what it names.

// Whether one of these errors ends in a name that the declarations for host code hold.
bool lacks_host_declarations(const std::vector<Diagnostic>& failed);

// The header of C++'s library that declares the member of `std` that the error misses, or nothing.
// The host compiler's headers include more of each other than Baton's do.
std::string_view standard_header_for(const Diagnostic& error);

// Whether kernels call functions of the host: ptxas says so, but for virtual architectures it is
// not asked.
bool calls_the_host(std::string_view ptx);

}  // namespace baton::compiler
