#pragma once

#include "compile/cache/cache.h"
#include "compile/cache/path_table.h"
#include "compile/request.h"
#include "compile/result.h"

namespace baton::compiler {

// What the request compiles to: from the cache, or compiled now and kept there. Throws what
// compiling throws. Thread-safe.
Cache::Outcome obtain_result(const Request& request, const PathTable& paths);

}  // namespace baton::compiler
