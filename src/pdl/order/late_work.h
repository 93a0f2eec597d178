#pragma once

// What a kernel does later than it could: reads after its wait, and triggers at its end.

#include <cstddef>
#include <vector>

#include "pdl/footprint/footprint.h"

namespace baton::overlap {

// Whether nothing is left to do after each trigger: no path from one of them leads to a wait, to
// an access of memory that other launches see, or to what cannot be seen. False for a kernel that
// never triggers, and where its code is not known.
bool triggers_at_its_end(const Footprint& footprint);

// By parameter: whether the kernel reads memory through it, always after its wait, and nowhere that
// loaded values decide, such as a row of a table. `params`: the number of its parameters. None
// where not all that the kernel does can be seen, and for a kernel that prefetches, which may have
// asked for that memory before.
std::vector<bool> params_read_late(const Footprint& footprint, std::size_t params);

}  // namespace baton::overlap
