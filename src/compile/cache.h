#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/result.h"

namespace baton::compiler {

// The persistent compile cache: one file an entry (cache_entry.h), written by rename, so that
// readers and writers of any number of processes never see a part of one. Stateless: cheap to make,
// and safe to use from many threads. What does not work (a read-only or full disk) is logged and
// means no cache, never a failure.
class Cache {
 public:
  explicit Cache(std::filesystem::path directory);
  // In BATON_CACHE_DIR, else $XDG_CACHE_HOME/baton, else ~/.cache/baton; nothing where none of them
  // is set.
  static std::optional<Cache> open_default();

  const std::filesystem::path& directory() const { return directory_; }

  // A damaged entry is a miss, and logged.
  std::optional<Result> find(const std::string& key) const;
  void store(const std::string& key, const Result& result) const;

  struct Entry {
    std::filesystem::path path;
    std::string key;
    std::uint64_t size = 0;  // in bytes, on disk
    std::chrono::seconds age{};
    std::string name;  // the source's
    std::string arch;
    std::vector<std::string> entries;
    double seconds = 0;  // what it saves
    std::string damage;  // empty where nothing is known to be wrong
  };
  // All entries, newest first. Only summaries are read.
  std::vector<Entry> list() const;
  // Reads every entry whole and returns the damaged ones.
  std::vector<Entry> verify() const;
  // Removes all entries, and what unfinished writes left; returns how many. Throws kInvalidInput
  // where one cannot be removed.
  std::size_t clear() const;

 private:
  std::filesystem::path path_of(std::string_view key) const;

  std::filesystem::path directory_;
};

}  // namespace baton::compiler
