#pragma once

#include <string>
#include <string_view>

namespace baton::image {

// PTX that is kept inside of a cubin: a section that no program loads (.nv_baton_ptx), so that the
// cubin is what it was for a GPU, and the simulated GPU has what it executes. A fatbin, a cache and
// a file carry it along.

// The cubin with the PTX in it, in place of any that it had. Throws kInvalidInput for what is not
// an ELF file of 64 bits with a section table, named `name` in the message.
std::string keep_ptx(std::string_view cubin, std::string_view ptx, std::string_view name);

// The PTX in a cubin, a view of its bytes; empty where there is none, or no cubin.
std::string_view kept_ptx(std::string_view cubin);

}  // namespace baton::image
