#pragma once

#include <cstddef>

namespace baton::preload {

// The bytes that a jump takes at the start of a function.
extern const std::size_t kJumpBytes;

// Makes calls of one function calls of another. No thread may execute the first bytes of the
// function meanwhile. False where the system forbids to change code.
bool redirect(void* function, const void* target);

}  // namespace baton::preload
