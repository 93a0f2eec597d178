#pragma once

#include "cli/command_line/options.h"
#include "cli/output/output.h"

namespace baton::cli {

// Shows what the compile produced whose result the entry holds. Throws kDamaged where it is not
// whole.
void inspect_entry(const InspectCommand& command, Output& output);

}  // namespace baton::cli
