#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::compiler {

// The extension of files that are being written.
inline constexpr std::string_view kUnfinished = ".tmp";
// No entry is larger.
inline constexpr std::uint64_t kMaxEntryBytes = std::uint64_t{1} << 30;

// The bytes of a regular file. Nothing where there is none, with `*failure` empty, or where it
// cannot be read, with the reason in `*failure`. Never waits for a pipe.
std::optional<std::string> read_cached_file(const std::filesystem::path& path,
                                            std::string* failure);

// A file that is written whole into the folder `temporary` and then renamed to `path`: who reads
// `path` sees the old bytes or the new ones. Not synced: what a power failure cuts short, the
// checksum shows. Removes its file where it is not renamed.
class CachedWrite {
 public:
  // Makes the folder. Nothing, with the reason in `*failure`, where that does not work.
  static std::optional<CachedWrite> begin(const std::filesystem::path& temporary,
                                          std::string_view bytes, std::string* failure);
  CachedWrite(CachedWrite&& other) noexcept : own_(std::exchange(other.own_, {})) {}
  CachedWrite& operator=(CachedWrite&&) = delete;
  ~CachedWrite();

  // The file, until it is renamed.
  const std::filesystem::path& own() const { return own_; }
  // Makes the folder of `path`. False, with the reason in `*failure`, where that does not work.
  bool finish(const std::filesystem::path& path, std::string* failure);

 private:
  explicit CachedWrite(std::filesystem::path own) : own_(std::move(own)) {}

  std::filesystem::path own_;
};

// Removes what writers that were killed left in the folder `temporary`: what no process has written
// to for an hour.
void remove_abandoned_files(const std::filesystem::path& temporary);

// Notes that the file was used now: its time of change says so.
void note_use(const std::filesystem::path& path);

struct CachedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type used;
};
// All files below `directory` with that extension; what cannot be read is logged.
std::vector<CachedFile> cached_files(const std::filesystem::path& directory,
                                     std::string_view extension);

}  // namespace baton::compiler
