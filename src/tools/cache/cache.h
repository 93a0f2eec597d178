#pragma once

#include "compile/cache/cache.h"

namespace baton::tools {

// What looks after the compile cache: entries, counters, verification and removal.
using compiler::Cache;
using compiler::CacheCounters;

// The default cache. Throws kNotFound where there is none.
Cache open_cache();
// The cache of a folder, as BATON_CACHE_DIR names it: without a limit, to copy entries from or to.
// Throws kNotFound where it must be there and is not.
Cache open_cache_at(const std::filesystem::path& folder, bool must_be_there);

}  // namespace baton::tools
