#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/file/file_descriptor.h"

namespace baton {

// An exclusive lock between threads and processes: one byte of a file, at an offset that all who
// mean the same thing choose alike; the file is created where it is missing, and not touched. It is
// advisory (a Linux open-file-description lock), held by this object alone, and released at the end
// of its life or of its process, however that ends. A process forked meanwhile shares it.
class FileLock {
 public:
  // Waits for at most `patience`; those who wait come in any order. Nothing where it is
  // still held by another then, with `*failure` empty, or where the system cannot lock (a
  // read-only folder, a file system without locks), with the reason in `*failure`.
  static std::optional<FileLock> acquire(const std::filesystem::path& path, std::uint64_t offset,
                                         std::chrono::milliseconds patience, std::string* failure);

  // The open file, for reading and writing.
  int file() const { return file_.number(); }

 private:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace baton
