#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace baton {

// Reads a whole file. Throws kNotFound or kInvalidInput naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Writes bytes to a temporary file in the same folder, syncs it, and renames it over `path`: a
// reader sees the old bytes or the new ones, never a part. Throws kInvalidInput with the reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

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
