#include "tools/cache/cache_entry.h"

#include <fstream>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "compile/cache/cache_entry.h"

namespace baton::tools {

bool is_cache_entry(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string start(compiler::kCacheMagic.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && start == compiler::kCacheMagic;
}

CacheEntry read_cache_entry(const std::filesystem::path& path) {
  std::string damage;
  std::optional<compiler::Result> result =
      compiler::read_entry(read_file(path), path.stem().string(), &damage);
  if (!result) {
    throw error(ErrorCode::kDamaged, "{} is a damaged entry of the compile cache: {}",
                path.string(), damage);
  }
  Compiled compiled{Image::from_bytes(result->ptx, "the PTX of " + result->name), {}, {}, {}, {}};
  if (!result->cubin.empty()) {
    compiled.cubin = Image::from_bytes(result->cubin, "the cubin of " + result->name);
  }
  compiled.kernels = std::move(result->kernels);
  return {result->name,    result->arch,    result->compiler,
          result->entries, result->seconds, std::move(compiled)};
}

}  // namespace baton::tools
