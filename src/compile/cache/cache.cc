#include "compile/cache/cache.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/log.h"
#include "base/system/environment.h"
#include "base/text/text.h"
#include "compile/cache/cache_entry.h"
#include "compile/cache/cache_files.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".entry";
// Of a cache's folder: what the compiler made.
constexpr std::string_view kCompileFolder = "compile";
// Whoever makes room holds this byte of the locks; a key's is any other.
constexpr std::uint64_t kRoomLock = ~std::uint64_t{0};

std::string beginning_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kMaxSummary, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return bytes;
}

// "2G", "500M", "1048576"; nothing where it is not a size.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (unit.empty()) return number;
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t power = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  if (power == std::string_view::npos) return std::nullopt;
  const auto shift = static_cast<int>(10 * (power + 1));
  if (number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

fs::path entry_path(const fs::path& directory, std::string_view key) {
  // 256 folders keep each of them small.
  return directory / key.substr(0, 2) / (std::string(key) + std::string(kExtension));
}

// A process that compiles many kernels meets the same trouble each time, and tells it once.
void warn(const std::string& text) {
  constexpr std::size_t kMostTold = 256;  // texts are remembered
  static std::mutex mutex;
  static std::set<std::string>& told = *new std::set<std::string>;  // outlives all threads
  {
    const std::lock_guard lock(mutex);
    if (told.contains(text)) return;
    if (told.size() < kMostTold) told.insert(text);
  }
  log(LogLevel::kWarning, "{}", text);
}

void say(const std::string& trouble) {
  if (!trouble.empty()) warn("compile cache: " + trouble);
}

// Folders as BATON_CACHE_DIR takes them, with a colon between two.
std::vector<fs::path> read_layers() {
  std::vector<fs::path> layers;
  std::string_view left;
  const auto value = read_environment("BATON_CACHE_LAYERS");
  if (value) left = *value;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end != 0) layers.push_back(fs::path(left.substr(0, end)) / kCompileFolder);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return layers;
}

}  // namespace

std::optional<Cache> Cache::open_default() {
  CacheSettings settings;
  if (const auto size = read_environment("BATON_CACHE_SIZE")) {
    if (const auto bytes = parse_size(*size)) {
      settings.max_bytes = *bytes;
    } else {
      warn(fmt::format(
          "BATON_CACHE_SIZE is \"{}\": expected bytes, or a number and K, M, G or T; taking {}",
          printable(*size), format_bytes(settings.max_bytes)));
    }
  }
  if (settings.max_bytes == 0) return std::nullopt;
  if (const auto chosen = read_environment("BATON_CACHE_DIR")) {
    settings.directory = *chosen;
  } else if (const auto xdg = read_environment("XDG_CACHE_HOME")) {
    settings.directory = fs::path(*xdg) / "baton";
  } else if (const auto home = read_environment("HOME")) {
    settings.directory = fs::path(*home) / ".cache" / "baton";
  } else {
    return std::nullopt;
  }
  settings.directory /= kCompileFolder;
  settings.layers = read_layers();
  return Cache(std::move(settings));
}

fs::path Cache::path_of(std::string_view key) const {
  return entry_path(directory(), key);
}

Cache::Lookup Cache::look_up(const std::string& key) const {
  Lookup own = look_up_in(directory(), key);
  own.is_own = own.result.has_value();
  if (own.result) return own;
  for (const fs::path& layer : settings_.layers) {
    Lookup found = look_up_in(layer, key);
    say(found.trouble);
    if (found.result) return {std::move(found.result), own.damaged, false, {}};
  }
  return own;
}

Cache::Lookup Cache::look_up_in(const fs::path& directory, const std::string& key) const {
  const fs::path path = entry_path(directory, key);
  std::string failure;
  const std::optional<std::string> bytes = read_cached_file(path, &failure);
  if (!bytes) return {std::nullopt, false, false, failure};
  if (is_outdated(*bytes)) return {std::nullopt, false, false, {}};
  Lookup found{read_entry(*bytes, key, &failure), false, false, {}};
  if (!found.result) {
    found.damaged = true;
    found.trouble = fmt::format("{} is damaged ({}); it is recompiled", path.string(), failure);
  }
  return found;
}

std::optional<FileLock> Cache::lock(const std::string& key) const {
  std::error_code unmade;  // the lock says what is wrong
  fs::create_directories(directory(), unmade);
  std::string failure;
  auto held = FileLock::acquire(locks(), xxh3(key), std::chrono::milliseconds(0), &failure);
  if (!held && failure.empty()) {
    log(LogLevel::kInfo, "compile cache: {} is being compiled elsewhere: waiting for it", key);
    held = FileLock::acquire(locks(), xxh3(key), settings_.patience, &failure);
    if (!held && failure.empty()) failure = "another still compiles it";
  }
  if (!held) log(LogLevel::kInfo, "compile cache: compiling without a lock: {}", failure);
  return held;
}

Cache::Outcome Cache::get(const std::string& key, const std::function<Made()>& make) const {
  Lookup kept = look_up(key);
  std::optional<FileLock> held;
  if (!kept.result) {
    held = lock(key);
    // While this one waited, another may have made it.
    kept = look_up(key);
    say(kept.trouble);
  }
  if (kept.result) {
    held.reset();
    if (kept.is_own) {
      note_use(path_of(key));
    } else {
      std::error_code unmade;  // then the hit is not counted
      fs::create_directories(directory(), unmade);
    }
    count_hit(hits());
    return {std::move(*kept.result), true};
  }
  Made made = make();
  const bool repaired = made.keep && store(key, made.result) && kept.damaged;
  held.reset();
  change_counters(stats(), [&](CacheCounters& counters) {
    ++counters.misses;
    counters.repairs += repaired ? 1 : 0;
  });
  return {std::move(made.result), false};
}

std::optional<Result> Cache::find(const std::string& key) const {
  Lookup found = look_up(key);
  say(found.trouble);
  return std::move(found.result);
}

bool Cache::store(const std::string& key, const Result& result) const {
  return store_bytes(key, result.name, write_entry(result, key));
}

bool Cache::store_bytes(const std::string& key, const std::string& name,
                        std::string_view bytes) const {
  if (bytes.size() > std::min(max_bytes(), kMaxEntryBytes)) {
    log(LogLevel::kInfo, "compile cache: {} is {}, more than all entries may be; it is not kept",
        name, format_bytes(bytes.size()));
    return false;
  }
  remove_abandoned_files(temporary());
  std::string failure;
  const auto not_kept = [&] {
    warn(fmt::format("compile cache: {}; the result is not kept", failure));
    return false;
  };
  std::optional<CachedWrite> written = CachedWrite::begin(temporary(), bytes, &failure);
  const fs::path path = path_of(key);
  if (!written) {
    // A disk may be full of entries beyond the limit, as of a process that had another limit.
    const std::optional<std::uint64_t> stored = read_counters(stats()).stored_bytes;
    if (stored && *stored + bytes.size() <= max_bytes()) return not_kept();
    make_room(bytes.size(), path, {});
    std::optional<CachedWrite> again = CachedWrite::begin(temporary(), bytes, &failure);
    if (!again) return not_kept();
    written.emplace(std::move(*again));
  }
  std::error_code absent;
  const std::uintmax_t size_before = fs::file_size(path, absent);
  const std::uint64_t replaced = absent ? 0 : size_before;
  // Counted before it is in its place, so that there is never an entry that nothing counts: whoever
  // is killed in between leaves too high a count, which the next look at all entries corrects.
  const CacheCounters now = change_counters(stats(), [&](CacheCounters& counters) {
    if (!counters.stored_bytes) return;
    const std::uint64_t sum = *counters.stored_bytes + bytes.size();
    counters.stored_bytes = sum - std::min(sum, replaced);
  });
  if (!now.stored_bytes || *now.stored_bytes > max_bytes())
    make_room(bytes.size(), path, written->own());
  return written->finish(path, &failure) || not_kept();
}

void Cache::make_room(std::uint64_t bytes, const fs::path& path, const fs::path& own) const {
  std::string failure;
  const auto alone = FileLock::acquire(locks(), kRoomLock, std::chrono::milliseconds(0), &failure);
  if (!alone && failure.empty()) return;  // another does it

  const std::optional<std::uint64_t> known = read_counters(stats()).stored_bytes;
  // Those that are being written are counted already. First, so that none is missed that is renamed
  // meanwhile.
  std::uint64_t stored = bytes;
  for (const CachedFile& file : cached_files(temporary(), kUnfinished)) {
    if (file.path != own) stored += file.bytes;
  }
  std::vector<CachedFile> files = cached_files(directory(), kExtension);
  std::erase_if(files, [&](const CachedFile& file) { return file.path == path; });
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const CachedFile& file : files) stored += file.bytes;
  // Somewhat more than needed, so that the next entries find room without a look at all of them.
  const std::uint64_t enough = stored > max_bytes() ? max_bytes() - max_bytes() / 10 : stored;
  std::uint64_t evicted = 0;
  std::uint64_t evicted_bytes = 0;
  for (const CachedFile& file : files) {
    if (stored - evicted_bytes <= enough) break;
    std::error_code failed;
    if (fs::last_write_time(file.path, failed) != file.used && !failed) continue;  // used meanwhile
    const bool was_there = fs::remove(file.path, failed);
    if (failed) {
      log(LogLevel::kWarning, "compile cache: cannot remove {}: {}", file.path.string(),
          failed.message());
      continue;
    }
    evicted += was_there ? 1 : 0;
    evicted_bytes += file.bytes;
  }
  change_counters(stats(), [&](CacheCounters& counters) {
    counters.evictions += evicted;
    counters.evicted_bytes += evicted_bytes;
    // What others added since the look at all entries stays counted.
    const std::uint64_t added =
        known && counters.stored_bytes > known ? *counters.stored_bytes - *known : std::uint64_t{0};
    counters.stored_bytes = stored - evicted_bytes + added;
  });
}

std::vector<Cache::Entry> Cache::list() const {
  std::vector<Entry> found;
  const auto now = fs::file_time_type::clock::now();
  for (CachedFile& file : cached_files(directory(), kExtension)) {
    Entry entry;
    entry.key = file.path.stem().string();
    entry.size = file.bytes;
    entry.unused = std::chrono::duration_cast<std::chrono::seconds>(now - file.used);
    if (std::optional<Result> summary = read_summary(beginning_of(file.path))) {
      entry.name = std::move(summary->name);
      entry.arch = std::move(summary->arch);
      entry.entries = std::move(summary->entries);
      entry.seconds = summary->seconds;
    } else {
      entry.damage = "its summary cannot be read";
    }
    entry.path = std::move(file.path);
    found.push_back(std::move(entry));
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    return a.unused != b.unused ? a.unused < b.unused : a.key < b.key;
  });
  return found;
}

std::size_t Cache::for_each_whole(
    const std::function<void(const Entry& entry, std::string&& bytes)>& take) const {
  std::size_t damaged = 0;
  std::vector<Entry> entries = list();
  std::reverse(entries.begin(), entries.end());
  for (const Entry& entry : entries) {
    std::string failure;
    std::optional<std::string> bytes = read_cached_file(entry.path, &failure);
    if (bytes && is_outdated(*bytes)) continue;
    if (bytes && read_entry(*bytes, entry.key, &failure)) {
      take(entry, std::move(*bytes));
    } else if (!failure.empty()) {  // not merely removed meanwhile
      say(fmt::format("{} is not copied: {}", entry.path.string(), failure));
      ++damaged;
    }
  }
  return damaged;
}

void Cache::import_entry(const std::string& key, std::string_view bytes, const std::string& origin,
                         Copied& copied) const {
  std::string failure;
  if (is_outdated(bytes)) return;
  // No two processes write one entry: on a network disk, a file that another machine replaces is
  // stale (ESTALE) for those that have seen it.
  const std::optional<FileLock> held = lock(key);
  const std::optional<Result> result = read_entry(bytes, key, &failure);
  if (!result) {
    say(fmt::format("{} is not copied: {}", origin, failure));
    ++copied.damaged;
  } else if (look_up_in(directory(), key).result) {
    ++copied.known;
  } else if (store_bytes(key, result->name, bytes)) {
    ++copied.entries;
    copied.bytes += bytes.size();
  } else {
    throw error(ErrorCode::kInvalidInput, "cannot write an entry of {} into {}",
                format_bytes(bytes.size()), directory().string());
  }
}

// The ones last used stay longest where there is no room for all.
Cache::Copied Cache::import_from(const Cache& other) const {
  Copied copied;
  const std::size_t damaged = other.for_each_whole([&](const Entry& entry, std::string&& bytes) {
    import_entry(entry.key, bytes, entry.path.string(), copied);
  });
  copied.damaged += damaged;
  return copied;
}

Cache::Verified Cache::verify() const {
  Verified found;
  for (Entry& entry : list()) {
    std::string failure;
    const std::optional<std::string> bytes = read_cached_file(entry.path, &failure);
    if (bytes) {
      if (read_entry(*bytes, entry.key, &entry.damage)) continue;
      if (is_outdated(*bytes)) {
        ++found.outdated;
        continue;
      }
    } else {
      if (failure.empty()) continue;  // removed meanwhile
      entry.damage = failure;
    }
    found.damaged.push_back(std::move(entry));
  }
  return found;
}

CacheCounters Cache::counters() const {
  CacheCounters counters = read_counters(stats());
  counters.hits = count_of_hits(hits());
  return counters;
}

std::size_t Cache::clear() const {
  std::size_t removed = 0;
  std::vector<CachedFile> files = cached_files(directory(), kExtension);
  for (CachedFile& file : cached_files(temporary(), kUnfinished)) files.push_back(std::move(file));
  for (const fs::path& counted : {hits(), stats()}) files.push_back({counted, 0, {}});
  // The locks stay: who compiles now holds one.
  for (const CachedFile& file : files) {
    std::error_code failed;
    const bool was_there = fs::remove(file.path, failed);
    if (failed && failed != std::errc::no_such_file_or_directory) {
      throw error(ErrorCode::kInvalidInput, "cannot remove {}: {}", file.path.string(),
                  failed.message());
    }
    removed += was_there && file.path.extension() == kExtension ? 1 : 0;
  }
  return removed;
}

}  // namespace baton::compiler
