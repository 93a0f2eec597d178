#pragma once

#include "pdl/code/code.h"

namespace baton::overlap {

// Whether the paths of threads, the addresses that they access, or what they give barriers may
// depend on the contents of memory. Parameters and the numbers of threads do not count as
// contents. If the result is false, threads access the same addresses in the same order with any
// contents.
bool depends_on_contents(const Code& code);

}  // namespace baton::overlap
