#include "compile/cache.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "compile/cache_entry.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".entry";

std::string beginning_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kMaxSummary, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return bytes;
}

// Calls `visit(path)` for every file of the cache; folders that cannot be read are logged.
template <typename Visit>
void for_each_file(const fs::path& directory, Visit&& visit) {
  std::error_code failed;
  fs::recursive_directory_iterator entries(directory, failed);
  while (!failed && entries != fs::recursive_directory_iterator()) {
    std::error_code unknown;
    if (entries->is_regular_file(unknown)) visit(entries->path());
    entries.increment(failed);
  }
  if (failed && failed != std::errc::no_such_file_or_directory) {
    log(LogLevel::kWarning, "compile cache: cannot read {}: {}", directory.string(),
        failed.message());
  }
}

}  // namespace

Cache::Cache(fs::path directory) : directory_(std::move(directory)) {}

std::optional<Cache> Cache::open_default() {
  fs::path root;
  if (const auto chosen = read_environment("BATON_CACHE_DIR")) {
    root = *chosen;
  } else if (const auto xdg = read_environment("XDG_CACHE_HOME")) {
    root = fs::path(*xdg) / "baton";
  } else if (const auto home = read_environment("HOME")) {
    root = fs::path(*home) / ".cache" / "baton";
  } else {
    return std::nullopt;
  }
  return Cache(root / "compile");
}

fs::path Cache::path_of(std::string_view key) const {
  // 256 folders keep each of them small.
  return directory_ / key.substr(0, 2) / (std::string(key) + std::string(kExtension));
}

std::optional<Result> Cache::find(const std::string& key) const {
  const fs::path path = path_of(key);
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    if (failed && failed != std::errc::no_such_file_or_directory) {
      log(LogLevel::kWarning, "compile cache: cannot read {}: {}", path.string(), failed.message());
    }
    return std::nullopt;
  }
  try {
    std::string damage;
    std::optional<Result> result = read_entry(read_file(path), key, &damage);
    if (!result) {
      log(LogLevel::kWarning, "compile cache: {} is damaged ({}); it is compiled anew",
          path.string(), damage);
    }
    return result;
  } catch (const Error& unreadable) {
    log(LogLevel::kWarning, "compile cache: {}", unreadable.message());
    return std::nullopt;
  }
}

void Cache::store(const std::string& key, const Result& result) const {
  const fs::path path = path_of(key);
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) {
    log(LogLevel::kWarning, "compile cache: cannot create {}: {}; the result is not kept",
        path.parent_path().string(), failed.message());
    return;
  }
  try {
    write_file_atomically(path, write_entry(result, key));
  } catch (const Error& unwritable) {
    log(LogLevel::kWarning, "compile cache: {}; the result is not kept", unwritable.message());
  }
}

std::vector<Cache::Entry> Cache::list() const {
  std::vector<Entry> found;
  for_each_file(directory_, [&](const fs::path& path) {
    if (path.extension() != kExtension) return;
    Entry entry;
    entry.path = path;
    entry.key = path.stem().string();
    std::error_code failed;
    entry.size = fs::file_size(path, failed);
    if (failed) return;  // removed by another process meanwhile
    const auto written = fs::last_write_time(path, failed);
    if (!failed) {
      entry.age = std::chrono::duration_cast<std::chrono::seconds>(
          fs::file_time_type::clock::now() - written);
    }
    if (std::optional<Result> summary = read_summary(beginning_of(path))) {
      entry.name = std::move(summary->name);
      entry.arch = std::move(summary->arch);
      entry.entries = std::move(summary->entries);
      entry.seconds = summary->seconds;
    } else {
      entry.damage = "its summary cannot be read";
    }
    found.push_back(std::move(entry));
  });
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    return a.age != b.age ? a.age < b.age : a.key < b.key;
  });
  return found;
}

std::vector<Cache::Entry> Cache::verify() const {
  std::vector<Entry> damaged;
  for (Entry& entry : list()) {
    try {
      if (read_entry(read_file(entry.path), entry.key, &entry.damage)) continue;
    } catch (const Error& unreadable) {
      std::error_code failed;
      if (!fs::exists(entry.path, failed)) continue;  // removed meanwhile
      entry.damage = unreadable.message();
    }
    damaged.push_back(std::move(entry));
  }
  return damaged;
}

std::size_t Cache::clear() const {
  std::size_t removed = 0;
  std::vector<fs::path> files;
  for_each_file(directory_, [&](const fs::path& path) { files.push_back(path); });
  for (const fs::path& path : files) {
    std::error_code failed;
    const bool was_there = fs::remove(path, failed);
    if (failed) {
      throw error(ErrorCode::kInvalidInput, "cannot remove {}: {}", path.string(),
                  failed.message());
    }
    removed += was_there && path.extension() == kExtension ? 1 : 0;
  }
  return removed;
}

}  // namespace baton::compiler
