#pragma once

#include "cli/command_line/options.h"
#include "cli/output/output.h"

namespace baton::cli {

// A bundle by its parts and kernels; nothing is loaded. Every part's digest is checked, and the
// directory of the zip is compared with the index.
void inspect_bundle(const InspectCommand& command, Output& output);

}  // namespace baton::cli
