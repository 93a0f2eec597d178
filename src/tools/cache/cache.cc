#include "tools/cache/cache.h"

#include <optional>
#include <utility>

#include "base/error.h"

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

Cache open_cache_at(const std::filesystem::path& folder, bool must_be_there) {
  compiler::CacheSettings settings;
  settings.directory = folder / "compile";
  settings.max_bytes = ~std::uint64_t{0};
  std::error_code unknown;
  if (must_be_there && !std::filesystem::is_directory(settings.directory, unknown)) {
    throw error(ErrorCode::kNotFound,
                "{} has no compile cache: there is no folder {}; name a folder that baton cache "
                "export wrote",
                folder.string(), settings.directory.string());
  }
  return Cache(std::move(settings));
}

}  // namespace baton::tools
