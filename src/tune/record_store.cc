#include "tune/record_store.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "base/log.h"
#include "base/system/environment.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "bind/binding.h"
#include "bundle/check.h"
#include "compile/cache/cache.h"
#include "tune/record_text.h"

namespace baton::tuning {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "tune";
constexpr std::string_view kExtension = ".json";
// A record has some kilobytes; a larger file is none.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{4} << 20;

std::string key_of(const TuneRecord& record) {
  Sha256 hash;
  hash.update_field("baton tuned record");
  hash.update_field(record.program);
  hash.update_field(record.device);
  hash.update_field(std::to_string(record.multiprocessors));
  for (const auto& [name, value] : record.symbols) {
    hash.update_field(name);
    hash.update_field(std::to_string(value));
  }
  return to_hex(hash.finish());
}

// Empty where there is no cache.
fs::path path_of(const TuneRecord& record) {
  const auto cache = compiler::Cache::open_default();
  if (!cache) return {};
  return cache->directory().parent_path() / kFolder / (key_of(record) + std::string(kExtension));
}

bool has_same_identity(const TuneRecord& a, const TuneRecord& b) {
  return a.program == b.program && a.device == b.device && a.multiprocessors == b.multiprocessors &&
         a.symbols == b.symbols;
}

// Reads a record with `read`; nothing for one that does not fit, which is logged.
template <typename Read>
std::optional<TuneRecord> read_fitting(const TuneRecord& identity, const std::string& name,
                                       Read&& read) {
  try {
    TuneRecord record = read_record(read(), name);
    if (!has_same_identity(record, identity)) {
      log(LogLevel::kInfo, "{} is for another program, device or size", name);
      return std::nullopt;
    }
    if (record.driver == identity.driver) return record;
    log(LogLevel::kWarning,
        "{} is ignored: it was made with driver {}, this is {}; baton tune makes a new one", name,
        record.driver, identity.driver);
  } catch (const Error& failure) {
    log(LogLevel::kWarning, "{} is ignored: {}", name, failure.message());
  }
  return std::nullopt;
}

}  // namespace

bool is_switched_off() {
  const auto value = read_environment("BATON_TUNE");
  if (!value || *value == "auto") return false;
  if (*value == "off") return true;
  constexpr std::array<std::string_view, 2> kChoices = {"off", "auto"};
  throw error(ErrorCode::kInvalidInput, "BATON_TUNE is \"{}\", it takes off or auto{}",
              printable(*value), suggestion(*value, kChoices));
}

TuneRecord identity_of(const Subject& subject, const Bindings& bindings) {
  TuneRecord identity;
  identity.program = subject.program_digest();
  identity.device = subject.device().name();
  identity.multiprocessors = static_cast<int>(subject.device().limits().multiprocessors);
  identity.driver = subject.device().driver_version();
  const std::vector<TuneParameter>& tuned = subject.program().tune_parameters();
  for (const BoundSymbol& symbol : bind::bind_symbols(subject.program(), bindings)) {
    const bool is_tuned =
        std::ranges::find(tuned, symbol.name, &TuneParameter::symbol) != tuned.end();
    // A tuned symbol with a value of the caller's is a size like others.
    if (is_tuned && symbol.source == bind::kProgramSource) continue;
    identity.symbols.emplace_back(symbol.name, symbol.value);
  }
  return identity;
}

fs::path keep(const TuneRecord& record) {
  const fs::path path = path_of(record);
  if (path.empty()) {
    log(LogLevel::kWarning, "the tuned record is not kept: there is no cache (BATON_CACHE_DIR)");
    return {};
  }
  try {
    std::error_code ignored;  // writing says what is wrong
    fs::create_directories(path.parent_path(), ignored);
    write_file_atomically(path, text_of(record));
  } catch (const Error& failure) {
    log(LogLevel::kWarning, "the tuned record is not kept: {}", failure.message());
    return {};
  }
  return path;
}

std::optional<TuneRecord> find(const TuneRecord& identity, const Bundle* bundle) {
  const fs::path path = path_of(identity);
  std::error_code missing;
  if (!path.empty() && fs::is_regular_file(path, missing)) {
    auto record =
        read_fitting(identity, path.string(), [&] { return read_file(path, kMaxRecordBytes); });
    if (record) return record;
  }
  if (bundle == nullptr) return std::nullopt;
  for (const BundlePart& part : bundle->parts()) {
    if (!part.name.starts_with(bundle::kTunedFolder)) continue;
    auto record = read_fitting(identity, fmt::format("{}/{}", bundle->name(), part.name),
                               [&] { return std::string(bundle->bytes(part.name)); });
    if (record) return record;
  }
  return std::nullopt;
}

}  // namespace baton::tuning
