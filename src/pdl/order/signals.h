#pragma once

// Order that threads pass on by signals: phases of mbarriers, named barriers and flags in shared
// memory (flags.h). A thread that has passed no wait does not get past a signal that only threads
// after a wait can give. docs/verdicts-order.md ("Signals") has the rules and the reasons for each
// condition.

#include <cstdint>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/value/thread.h"

namespace baton::overlap {

// Whether the code has an operation that may be such a signal.
bool has_signals(const Code& code);

// By operation: whether a thread may execute it while it has passed no wait. `thread`: of any
// index. `behind`: by operation, whether a thread that comes there is after a wait for another
// reason; empty: none is.
std::vector<bool> find_early(const Code& code, const KnownThread& thread,
                             const std::vector<bool>& behind);

}  // namespace baton::overlap
