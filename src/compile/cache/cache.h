#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file_lock.h"
#include "compile/cache/cache_counters.h"
#include "compile/cache/cache_files.h"
#include "compile/result.h"

namespace baton::compiler {

struct CacheSettings {
  std::filesystem::path directory;
  // Caches that are read where `directory` lacks an entry, in this order, and never written.
  std::vector<std::filesystem::path> layers = {};
  // Of all entries: beyond it, those that were not used for the longest time are removed.
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  // How long to wait for another that compiles the same. One that is stopped, or hangs on a dead
  // network disk, must not stop the others for good: they compile for themselves then.
  std::chrono::milliseconds patience = std::chrono::minutes(2);
};

// The persistent compile cache, shared by threads and processes:
//   <key>.entry  in one of 256 folders named after its beginning: one result (cache_entry.h)
//   tmp/         entries that are being written; each is renamed to its place when it is whole
//   locks        one byte for each key (FileLock), held while its result is made
//   hits         one byte for each hit
//   stats        the other counters (cache_counters.h)
// A hit takes no lock: it sees a whole entry or none, and the checksum tells. One that is
// removed while it is read stays whole for its reader. What does not work (a read-only or full
// disk, one without locks) is logged and means no cache, never a failure. Stateless: cheap to make,
// and safe to use from many threads.
class Cache {
 public:
  explicit Cache(CacheSettings settings) : settings_(std::move(settings)) {}
  // With the layers of BATON_CACHE_LAYERS ("/opt/a:/opt/b"). In BATON_CACHE_DIR, else
  // $XDG_CACHE_HOME/baton, else ~/.cache/baton, of BATON_CACHE_SIZE bytes; nothing where none of
  // the former is set, or the latter is 0.
  static std::optional<Cache> open_default();

  const std::filesystem::path& directory() const { return settings_.directory; }
  const std::vector<std::filesystem::path>& layers() const { return settings_.layers; }
  std::uint64_t max_bytes() const { return settings_.max_bytes; }

  struct Made {
    Result result;
    bool keep = true;  // false: it may not be what the key says
  };
  struct Outcome {
    Result result;
    bool hit = false;
  };
  // The entry of the key, else what `make` gives, which is kept. Of all that ask for one key at a
  // time one makes it, and the others wait for it. What `make` throws goes through.
  Outcome get(const std::string& key, const std::function<Made()>& make) const;

  // The entry of the key; a damaged one is a miss, and logged. Counts nothing.
  std::optional<Result> find(const std::string& key) const;
  // False where it could not be kept.
  bool store(const std::string& key, const Result& result) const;

  struct Entry {
    std::filesystem::path path;
    std::string key;
    std::uint64_t size = 0;         // in bytes, on disk
    std::chrono::seconds unused{};  // since it was last used
    std::string name;               // the source's
    std::string arch;
    std::vector<std::string> entries;
    double seconds = 0;  // what it saves
    std::string damage;  // empty where nothing is known to be wrong
  };
  // All entries, those last used first. Only summaries are read.
  std::vector<Entry> list() const;
  struct Verified {
    std::vector<Entry> damaged;
    std::size_t outdated = 0;  // of an older format: never read, and the first to make room
  };
  // Reads every entry whole.
  Verified verify() const;
  CacheCounters counters() const;
  // What happened to the entries of another cache, or of this one on their way to another.
  struct Copied {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
    std::size_t known = 0;    // were there already
    std::size_t damaged = 0;  // are logged, and not copied
  };
  // Gives the bytes of each whole entry to `take`, those last used last. Damaged ones are logged;
  // returns how many.
  std::size_t for_each_whole(
      const std::function<void(const Entry& entry, std::string&& bytes)>& take) const;
  // Keeps an entry of another cache, unless it is known or damaged. `origin` is its name in the
  // log. Throws kInvalidInput where it cannot be written.
  void import_entry(const std::string& key, std::string_view bytes, const std::string& origin,
                    Copied& copied) const;
  // Copies the whole entries of another cache into this one, those last used last. Layers are not
  // copied. Throws kInvalidInput where an entry cannot be written.
  Copied import_from(const Cache& other) const;
  // Removes all entries, the counters, and what unfinished writes left; returns how many entries.
  // Throws kInvalidInput where one cannot be removed.
  std::size_t clear() const;

 private:
  struct Lookup {
    std::optional<Result> result;
    bool damaged = false;
    bool is_own = false;  // not of a layer
    std::string trouble;  // what the log should say of it; empty: nothing
  };
  // In the cache itself, and, where it has no whole entry, in the layers.
  Lookup look_up(const std::string& key) const;
  Lookup look_up_in(const std::filesystem::path& directory, const std::string& key) const;
  std::optional<FileLock> lock(const std::string& key) const;
  // Removes entries until one of so many bytes, which takes the place of that at `path` and is
  // still at its `own`, fits.
  void make_room(std::uint64_t bytes, const std::filesystem::path& path,
                 const std::filesystem::path& own) const;
  std::filesystem::path path_of(std::string_view key) const;
  bool store_bytes(const std::string& key, const std::string& name, std::string_view bytes) const;
  std::filesystem::path locks() const { return settings_.directory / "locks"; }
  std::filesystem::path hits() const { return settings_.directory / "hits"; }
  std::filesystem::path stats() const { return settings_.directory / "stats"; }
  std::filesystem::path temporary() const { return settings_.directory / "tmp"; }

  CacheSettings settings_;
};

}  // namespace baton::compiler
