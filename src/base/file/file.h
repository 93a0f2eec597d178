#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace baton {

// No file that Baton reads is larger: a larger one is refused before memory is taken for it.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 30;

// Reads a whole file, or a pipe to its end. Throws kNotFound or kInvalidInput naming the path and
// the system's reason, and kInvalidInput for more than `max_bytes`. Thread-safe.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes = kMaxFileBytes);

// Writes bytes to a temporary file in the same folder, syncs it, and renames it over `path`: a
// reader sees the old bytes or the new ones, never a part, and of several writers the last one
// wins. A link is followed; a device or a pipe, which cannot be replaced, is written in place.
// A file that was there keeps its mode and, where the system allows it, its owner. Throws
// kInvalidInput with the reason, and leaves no temporary file. Thread-safe.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);
// The same with the bytes in parts, which follow each other.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts);

// Throws kInvalidInput, as write_file_atomically would, where a file cannot be written there. What
// the file holds stays.
void require_writable(const std::filesystem::path& path);

// Whether both are one regular file, by whatever names or links. A file that does not exist is not
// another one.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// A folder of its own under the system's temporary folder, removed with all it holds at the end of
// its life; a failure to remove it is logged.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace baton
