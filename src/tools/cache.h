#pragma once

#include "compile/cache/cache.h"

namespace baton::tools {

// What looks after the compile cache: entries, counters, verification and removal.
using compiler::Cache;
using compiler::CacheCounters;

// The default cache. Throws kNotFound where there is none.
Cache open_cache();

}  // namespace baton::tools
