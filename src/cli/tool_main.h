#pragma once

#include "baton/export.h"

namespace baton::cli {

// The command line: reads the arguments of main(), calls one command, and returns the exit status.
// Exported by a libbaton that has the command line inside (BATON_WHEEL).
BATON_API int tool_main(int count, char** values);

}  // namespace baton::cli
