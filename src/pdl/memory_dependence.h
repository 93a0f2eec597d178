#pragma once

#include "pdl/code.h"

namespace baton::overlap {

// Whether the paths of threads, the addresses that they access, or what they give barriers may
// depend on the contents of memory. Parameters and the numbers of threads are no contents. If it
// does not, threads access the same addresses in the same order whatever is in memory.
bool depends_on_contents(const Code& code);

}  // namespace baton::overlap
