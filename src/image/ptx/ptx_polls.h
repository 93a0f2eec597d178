#pragma once

#include "ptx/ast.h"

namespace baton::image {

// Whether a body has a loop that ends by a value that it loads strongly (volatile, relaxed or
// acquire) from memory other than shared memory: it waits for a write of another thread, block,
// launch or the host. Loops are those of the text, from a label to a branch back to it.
bool polls(const ptx::Block& body);

}  // namespace baton::image
