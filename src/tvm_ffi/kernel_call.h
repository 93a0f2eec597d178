#pragma once

#include <span>
#include <string>

#include "tvm_ffi/target.h"

namespace baton::tvm_ffi {

// Launches a kernel on the current stream. The values are the kernel's arguments, then its grid and
// block (an int, or one to three), and, where they are needed, the bytes of dynamic shared memory.
// On the simulated GPU the tensors may be in host memory; then the call waits for its results.
// `name` is its name in messages. Throws Failure.
void call_kernel(const baton_kernel* kernel, const std::string& name, OpenDevice& device,
                 const Target& target, std::span<const Any> values);

}  // namespace baton::tvm_ffi
