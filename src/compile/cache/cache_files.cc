#include "compile/cache/cache_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/file/file_descriptor.h"
#include "base/log.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

std::string failure_to(const char* what, const fs::path& path, int number = errno) {
  return fmt::format("cannot {} \"{}\": {}", what, path.string(),
                     std::system_category().message(number));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = uninterrupted([&] { return ::write(file, bytes.data(), bytes.size()); });
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool make_folder(const fs::path& folder, std::string* failure) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) *failure = failure_to("create", folder, failed.value());
  return !failed;
}

// A new file that no other thread, process, or machine that shares the folder has.
FileDescriptor create_own(const fs::path& folder, fs::path& path) {
  static std::atomic<unsigned> count{0};
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    path = folder / fmt::format("{}-{}{}", ::getpid(), count++, kUnfinished);
    const int file = uninterrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
    if (file >= 0 || errno != EEXIST) return FileDescriptor(file);
  }
  return FileDescriptor();
}

}  // namespace

std::optional<std::string> read_cached_file(const fs::path& path, std::string* failure) {
  failure->clear();
  const auto failed = [&](std::string why) {
    *failure = std::move(why);
    return std::nullopt;
  };
  const FileDescriptor file(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.number() < 0) {
    if (errno == ENOENT) return std::nullopt;
    return failed(failure_to("read", path));
  }
  struct stat status;
  if (::fstat(file.number(), &status) != 0) return failed(failure_to("read", path));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size > kMaxEntryBytes) {
    return failed(fmt::format("\"{}\" is not an entry of the compile cache", path.string()));
  }
  try {
    std::string bytes(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
      const ssize_t count = uninterrupted(
          [&] { return ::read(file.number(), bytes.data() + filled, size - filled); });
      if (count < 0) return failed(failure_to("read", path));
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    bytes.resize(filled);
    return bytes;
  } catch (const std::bad_alloc&) {
    return failed(failure_to("read", path, ENOMEM));
  }
}

std::optional<CachedWrite> CachedWrite::begin(const fs::path& temporary, std::string_view bytes,
                                              std::string* failure) {
  if (!make_folder(temporary, failure)) return std::nullopt;
  fs::path own;
  FileDescriptor file = create_own(temporary, own);
  if (file.number() < 0) {
    *failure = failure_to("create a file in", temporary);
    return std::nullopt;
  }
  CachedWrite made(std::move(own));
  int reason = write_all(file.number(), bytes) ? 0 : errno;
  // A file system may report a failed write only here.
  const int closing = file.close();
  if (reason == 0) reason = closing;
  if (reason == 0) return made;
  *failure = failure_to("write a file in", temporary, reason);
  return std::nullopt;
}

bool CachedWrite::finish(const fs::path& path, std::string* failure) {
  if (!make_folder(path.parent_path(), failure)) return false;
  if (::rename(own_.c_str(), path.c_str()) != 0) {
    *failure = failure_to("write", path);
    return false;
  }
  own_.clear();
  return true;
}

CachedWrite::~CachedWrite() {
  if (own_.empty() || ::unlink(own_.c_str()) == 0) return;
  log(LogLevel::kWarning, "compile cache: {}", failure_to("remove", own_));
}

void remove_abandoned_files(const fs::path& temporary) {
  constexpr std::chrono::hours kAbandoned{1};
  for (const CachedFile& file : cached_files(temporary, kUnfinished)) {
    if (fs::file_time_type::clock::now() - file.used < kAbandoned) continue;
    std::error_code failed;
    fs::remove(file.path, failed);
    if (failed) {
      log(LogLevel::kWarning, "compile cache: {}", failure_to("remove", file.path, failed.value()));
    }
  }
}

void note_use(const fs::path& path) {
  struct timespec times[2] = {};
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_nsec = UTIME_NOW;
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) {
    log(LogLevel::kDebug, "compile cache: {}", failure_to("note the use of", path));
  }
}

std::vector<CachedFile> cached_files(const fs::path& directory, std::string_view extension) {
  std::vector<CachedFile> found;
  std::error_code failed;
  fs::recursive_directory_iterator entries(directory, failed);
  while (!failed && entries != fs::recursive_directory_iterator()) {
    const fs::directory_entry& entry = *entries;
    struct stat status;
    // One that is gone meanwhile is none.
    if (entry.path().extension() == extension && ::lstat(entry.path().c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
      const auto used = std::chrono::sys_time<std::chrono::nanoseconds>(
          std::chrono::seconds(status.st_mtim.tv_sec) +
          std::chrono::nanoseconds(status.st_mtim.tv_nsec));
      found.push_back({entry.path(), static_cast<std::uint64_t>(status.st_size),
                       fs::file_time_type::clock::from_sys(used)});
    }
    entries.increment(failed);
  }
  if (failed && failed != std::errc::no_such_file_or_directory) {
    log(LogLevel::kWarning, "compile cache: {}", failure_to("read", directory, failed.value()));
  }
  return found;
}

}  // namespace baton::compiler
