#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/compile.h"

namespace baton::tools {

// One compile, as the compile cache keeps it.
struct CacheEntry {
  std::string name;  // of the source
  std::string arch;
  std::string compiler;
  std::vector<std::string> entries;
  double seconds = 0;
  Compiled compiled;
};

// Whether a file is an entry of the compile cache, by its first bytes.
bool is_cache_entry(const std::filesystem::path& path);

// Throws kDamaged where the entry cannot be read.
CacheEntry read_cache_entry(const std::filesystem::path& path);

}  // namespace baton::tools
