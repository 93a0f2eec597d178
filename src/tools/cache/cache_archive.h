#pragma once

#include <filesystem>

#include "tools/cache/cache.h"

namespace baton::tools {

// A cache as one file: a zip without compression, whose entries have the paths that they have in
// the cache's folder. So what any tool unpacks is a cache, too.

// Whether the user means such a file and not a folder: a file that is there, or a name in .zip.
bool is_archive(const std::filesystem::path& path);

// Writes the whole entries of a cache. The file is replaced whole or not at all. Throws
// kInvalidInput where it cannot be written.
Cache::Copied export_archive(const Cache& cache, const std::filesystem::path& path);

// Copies the entries of such a file into a cache. Damaged ones are logged and left out. Throws
// kNotFound or kInvalidInput for a file that cannot be read or is not such a zip, and kInvalidInput
// where an entry cannot be written.
Cache::Copied import_archive(const Cache& cache, const std::filesystem::path& path);

}  // namespace baton::tools
