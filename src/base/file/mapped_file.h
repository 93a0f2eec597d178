#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file/file_descriptor.h"

namespace baton {

// The bytes of a file, mapped read-only, or bytes in memory that stand for one. Immutable but for
// what others write into the file. Thread-safe.
class MappedFile {
 public:
  // Throws kNotFound or kInvalidInput with the path and the system's reason, and kInvalidInput for
  // anything but a regular file.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  static std::shared_ptr<const MappedFile> from_bytes(std::string bytes, std::string name);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const { return name_; }
  std::string_view bytes() const { return bytes_; }
  // Whether they are a file's, and not in memory.
  bool is_mapped() const { return descriptor_.number() >= 0; }

  // Copies a part of `bytes()` by reading the file itself: unlike the mapped bytes, that cannot end
  // the process if the file becomes shorter. Throws kInvalidInput if the file became shorter.
  void read(std::string_view part, char* target) const;
  // The same as a text. Nothing for bytes in memory.
  std::optional<std::string> copy(std::string_view part) const;
  // Calls `each` with the bytes of one piece of the part after another, read as above. The pieces
  // are small enough for a processor's cache.
  void for_each_piece(std::string_view part,
                      const std::function<void(std::string_view)>& each) const;

  // Identifies this state of the file on this machine, as far as the system knows: by the file's
  // place, its size and the time of its last change. Nothing for bytes in memory.
  struct Identity {
    std::string text;
    std::chrono::system_clock::time_point changed;
  };
  std::optional<Identity> identity() const;

  // Throws kInvalidInput if the file became shorter since it was mapped. To read a page after its
  // end would end the process.
  void require_whole() const;

 private:
  explicit MappedFile(std::string name) : name_(std::move(name)) {}

  std::string name_;
  FileDescriptor descriptor_;  // of a mapped file
  std::string owned_;
  std::string_view bytes_;
};

}  // namespace baton
