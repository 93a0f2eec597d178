#include "compile/cache/cache_counters.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/file/file_descriptor.h"
#include "base/file/file_lock.h"
#include "base/hash/hash.h"
#include "base/log.h"

namespace baton::compiler {
namespace {

// The file: these words, little-endian. The last is XXH3-64 of those before it.
enum Word { kMagic, kMisses, kRepairs, kEvictions, kEvictedBytes, kStoredBytes, kSum };
using Words = std::array<std::uint64_t, kSum + 1>;
constexpr std::uint64_t kMagicWord = 0x3230'5441'5453'4e42;  // "BNSTAT02"
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

// No process holds the lock for longer than a read and a write; who is stopped in between must not
// stop the others.
constexpr std::chrono::milliseconds kPatience{200};

std::uint64_t sum_of(const Words& words) {
  return xxh3({reinterpret_cast<const char*>(words.data()), sizeof words - sizeof words[kSum]});
}

CacheCounters read_from(int file) {
  Words words{};
  const ssize_t size = uninterrupted([&] { return ::pread(file, words.data(), sizeof words, 0); });
  if (size != sizeof words || words[kMagic] != kMagicWord || words[kSum] != sum_of(words)) {
    return {};
  }
  CacheCounters counters;
  counters.misses = words[kMisses];
  counters.repairs = words[kRepairs];
  counters.evictions = words[kEvictions];
  counters.evicted_bytes = words[kEvictedBytes];
  if (words[kStoredBytes] != kUnknown) counters.stored_bytes = words[kStoredBytes];
  return counters;
}

bool write_to(int file, const CacheCounters& counters) {
  Words words = {
      kMagicWord,         counters.misses,        counters.repairs,
      counters.evictions, counters.evicted_bytes, counters.stored_bytes.value_or(kUnknown)};
  words[kSum] = sum_of(words);
  return uninterrupted([&] { return ::pwrite(file, words.data(), sizeof words, 0); }) ==
         sizeof words;
}

}  // namespace

void count_hit(const std::filesystem::path& path) {
  const FileDescriptor file(uninterrupted([&] {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  }));
  const char hit = '.';
  if (file.number() < 0 || uninterrupted([&] { return ::write(file.number(), &hit, 1); }) != 1) {
    log(LogLevel::kDebug, "compile cache: a hit is not counted: cannot write \"{}\": {}",
        path.string(), std::system_category().message(errno));
  }
}

std::uint64_t count_of_hits(const std::filesystem::path& path) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

CacheCounters read_counters(const std::filesystem::path& path) {
  const FileDescriptor file(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  return file.number() < 0 ? CacheCounters{} : read_from(file.number());
}

CacheCounters change_counters(const std::filesystem::path& path,
                              const std::function<void(CacheCounters&)>& change) {
  std::string failure;
  const std::optional<FileLock> lock = FileLock::acquire(path, 0, kPatience, &failure);
  if (!lock) {
    log(LogLevel::kDebug, "compile cache: not counted: {}",
        failure.empty() ? "the counters are locked for long" : failure);
    CacheCounters counters = read_counters(path);
    change(counters);
    return counters;
  }
  CacheCounters counters = read_from(lock->file());
  change(counters);
  if (!write_to(lock->file(), counters)) {
    log(LogLevel::kDebug, "compile cache: not counted: cannot write \"{}\": {}", path.string(),
        std::system_category().message(errno));
  }
  return counters;
}

}  // namespace baton::compiler
