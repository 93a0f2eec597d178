#pragma once

#include "baton/world.h"
#include "session/world/collective_trace.h"

namespace baton {

// Called by all ranks of a world. Compares the messages that each rank sends with those that the
// other side receives: their number, and the elements of each. Ranks whose messages are not known
// agree with any. Throws kInvalidInput, on every rank, for a difference.
void agree_on_messages(const World& world, const CollectiveTrace& trace);

}  // namespace baton
