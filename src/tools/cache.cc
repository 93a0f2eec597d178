#include "tools/cache.h"

#include <optional>

#include "baton/error.h"

namespace baton::tools {

Cache open_cache() {
  std::optional<Cache> cache = Cache::open_default();
  if (!cache) {
    throw Error(
        ErrorCode::kNotFound,
        "there is no compile cache; set BATON_CACHE_DIR, or HOME, and BATON_CACHE_SIZE not to 0");
  }
  return *cache;
}

}  // namespace baton::tools
