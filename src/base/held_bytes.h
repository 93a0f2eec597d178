#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace baton {

// A part of a file that is checked when it is first asked for. Keeps the file mapped. Thread-safe.
class HeldBytes {
 public:
  // `bytes` lie in the file. `xxh3` is their checksum, `name` what messages call them.
  HeldBytes(std::shared_ptr<const MappedFile> file, std::string_view bytes, std::uint64_t xxh3,
            std::string name)
      : file_(std::move(file)), bytes_(bytes), xxh3_(xxh3), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return bytes_.size(); }

  // Throws kInvalidInput if the checksum is wrong or the file shrank. A success is remembered.
  std::string_view get() const;
  // The bytes as they are.
  std::string_view unchecked() const { return bytes_; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::string_view bytes_;
  std::uint64_t xxh3_;
  std::string name_;
  mutable std::atomic<bool> checked_{false};
};

}  // namespace baton
