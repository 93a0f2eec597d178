#pragma once

#include <filesystem>

#include "cli/options.h"
#include "cli/output.h"

namespace baton::cli {

// Whether a file is an entry of the compile cache; false where it cannot be read.
bool is_cache_entry(const std::filesystem::path& path);

// Shows what the compile produced whose result the entry holds. Throws kDamaged where it is not
// whole.
void inspect_entry(const InspectCommand& command, Output& output);

}  // namespace baton::cli
