#include "tools/cache/cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands/commands.h"
#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/cache/cache_archive.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using Entries = std::vector<tools::Cache::Entry>;

// As much of a key as distinguishes entries; JSON has the file.
constexpr std::size_t kShownKey = 12;

std::string counted_entries(std::size_t count) {
  return counted(count, "entry", "entries");
}

Json json_of(const Entries& entries) {
  Json list = Json::array();
  for (const tools::Cache::Entry& entry : entries) {
    list.push_back({{"path", entry.path.string()},
                    {"name", entry.name},
                    {"arch", entry.arch},
                    {"entries", entry.entries},
                    {"bytes", entry.size},
                    {"unused_seconds", entry.unused.count()},
                    {"compile_seconds", entry.seconds}});
    if (!entry.damage.empty()) list.back()["damage"] = entry.damage;
  }
  return list;
}

void stats(const tools::Cache& cache, Output& output) {
  const Entries entries = cache.list();
  std::uint64_t bytes = 0;
  double seconds = 0;
  for (const tools::Cache::Entry& entry : entries) {
    bytes += entry.size;
    seconds += entry.seconds;
  }
  const tools::CacheCounters counters = cache.counters();
  Json& json = output.result();
  json["entries"] = entries.size();
  json["bytes"] = bytes;
  json["max_bytes"] = cache.max_bytes();
  json["compile_seconds"] = seconds;
  json["hits"] = counters.hits;
  json["misses"] = counters.misses;
  json["evictions"] = counters.evictions;
  json["evicted_bytes"] = counters.evicted_bytes;
  json["repairs"] = counters.repairs;
  output.line("{}: {}, {} of at most {}, recompiling them all takes {}", cache.directory().string(),
              counted_entries(entries.size()), format_bytes(bytes), format_bytes(cache.max_bytes()),
              format_duration(seconds));
  for (const auto& layer : cache.layers()) {
    json["layers"].push_back(layer.string());
    std::error_code unknown;
    output.line("{}: a layer, {}", layer.string(),
                std::filesystem::is_directory(layer, unknown)
                    ? "read and never written"
                    : "which is not there, or not a folder");
  }
  output.line("{}, {}, {} ({}), {}", counted(counters.hits, "hit"),
              counted(counters.misses, "miss", "misses"), counted(counters.evictions, "eviction"),
              format_bytes(counters.evicted_bytes), counted(counters.repairs, "repair"));
}

void list(const tools::Cache& cache, Output& output) {
  const Entries entries = cache.list();
  output.result()["entries"] = json_of(entries);
  using enum Table::Align;
  Table table(
      {{"source"}, {"entries"}, {"arch"}, {"size", kRight}, {"last used", kRight}, {"key"}, {""}});
  for (const tools::Cache::Entry& entry : entries) {
    table.add({printable(entry.name),
               printable(fmt::format("{}", fmt::join(entry.entries, ", ")), 40),
               printable(entry.arch), format_bytes(entry.size), format_age(entry.unused),
               entry.key.substr(0, kShownKey), entry.damage});
  }
  if (entries.empty()) {
    output.line("{}: no entries", cache.directory().string());
  } else {
    output.text(table.format(output.terminal()));
  }
}

void verify(const tools::Cache& cache, Output& output) {
  const std::size_t count = cache.list().size();
  const auto [damaged, outdated] = cache.verify();
  output.result()["entries"] = count;
  output.result()["outdated"] = outdated;
  output.result()["damaged"] = json_of(damaged);
  std::string older;
  if (outdated != 0) {
    older = fmt::format("; {} of an older format, which {} no longer read", outdated,
                        outdated == 1 ? "is" : "are");
  }
  if (damaged.empty()) {
    output.line("{}: {}, {}{}", cache.directory().string(), counted_entries(count),
                count == 1 ? "whole" : "all whole", older);
    return;
  }
  Error failure =
      error(ErrorCode::kDamaged,
            "{} of {} of the compile cache in {} {} damaged: recompiled at the next use, and "
            "removed by \"baton cache clear\"{}",
            damaged.size(), counted_entries(count), cache.directory().string(),
            damaged.size() == 1 ? "is" : "are", older);
  constexpr std::size_t kMostShown = 20;
  for (const tools::Cache::Entry& entry : damaged) {
    if (&entry - damaged.data() == kMostShown) {
      failure.note(fmt::format("  and {} more: --json names all", damaged.size() - kMostShown));
      break;
    }
    failure.note(fmt::format("  {}: {}", entry.path.string(), entry.damage));
  }
  throw failure;
}

void clear(const tools::Cache& cache, Output& output) {
  const std::size_t count = cache.clear();
  output.result()["removed"] = count;
  output.line("{}: {} removed", cache.directory().string(), counted_entries(count));
}

// Into the user's cache or out of it.
void show_copied(const tools::Cache::Copied& copied, const std::filesystem::path& target,
                 const char* verb, Output& output) {
  Json& json = output.result();
  json["entries"] = copied.entries;
  json["bytes"] = copied.bytes;
  json["known"] = copied.known;
  json["damaged"] = copied.damaged;
  output.line("{}: {} {} ({}), {} there already, {} damaged", target.string(),
              counted_entries(copied.entries), verb, format_bytes(copied.bytes), copied.known,
              copied.damaged);
}

void export_to(const tools::Cache& cache, const std::filesystem::path& path, Output& output) {
  if (tools::is_archive(path)) {
    return show_copied(tools::export_archive(cache, path), path, "exported", output);
  }
  const tools::Cache target = tools::open_cache_at(path, false);
  show_copied(target.import_from(cache), target.directory(), "exported", output);
}

void import_into(const tools::Cache& cache, const std::filesystem::path& path, Output& output) {
  const auto copied = tools::is_archive(path) ? tools::import_archive(cache, path)
                                              : cache.import_from(tools::open_cache_at(path, true));
  show_copied(copied, cache.directory(), "imported", output);
}

}  // namespace

void cache(const CacheCommand& command, Output& output) {
  const tools::Cache cache = tools::open_cache();
  output.result()["directory"] = cache.directory().string();
  switch (command.action) {
    case CacheCommand::Action::kStats:
      return stats(cache, output);
    case CacheCommand::Action::kList:
      return list(cache, output);
    case CacheCommand::Action::kVerify:
      return verify(cache, output);
    case CacheCommand::Action::kClear:
      return clear(cache, output);
    case CacheCommand::Action::kExport:
      return export_to(cache, command.folder, output);
    case CacheCommand::Action::kImport:
      return import_into(cache, command.folder, output);
  }
}

}  // namespace baton::cli
