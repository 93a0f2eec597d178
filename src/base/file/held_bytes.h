#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "base/file/mapped_file.h"
#include "base/hash/hash.h"

namespace baton {

// A part of a file that is read and checked when it is first asked for. Keeps the file open.
// Thread-safe.
class HeldBytes {
 public:
  // Where the bytes are, once they were asked for. A copy costs memory, and stays whatever happens
  // to the file. Mapped bytes are those of the file: `read` copies parts of them safely, but to use
  // what `get` returns when the file became shorter ends the process.
  enum class Keep : std::uint8_t { kCopied, kMapped };

  // The checksum of the bytes: against accidents, or against malice too.
  using Sum = std::variant<std::uint64_t, Sha256Digest>;  // XXH3-64, SHA-256

  // `bytes` lie in the file. `sum` is their checksum, `name` what messages call them.
  HeldBytes(std::shared_ptr<const MappedFile> file, std::string_view bytes, const Sum& sum,
            std::string name, Keep keep = Keep::kCopied)
      : file_(std::move(file)), bytes_(bytes), sum_(sum), name_(std::move(name)), keep_(keep) {}

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return bytes_.size(); }

  // The bytes, which live as long as this object. Throws kInvalidInput if the checksum is wrong, or
  // if the file shrank before they were copied or, for mapped bytes, before this call.
  std::string_view get() const;
  // Copies a part of the bytes; both numbers lie in them. Throws kInvalidInput if the checksum of
  // all bytes is wrong, or if the file shrank before they were copied.
  void read(std::uint64_t offset, std::uint64_t bytes, char* target) const;

 private:
  // Checks them, once.
  void check() const;

  std::shared_ptr<const MappedFile> file_;
  std::string_view bytes_;
  Sum sum_;
  std::string name_;
  Keep keep_;
  mutable std::mutex mutex_;  // of the first call
  mutable std::unique_ptr<char[]> copy_;
  mutable std::string_view checked_bytes_;
  mutable std::atomic<bool> checked_{false};
};

}  // namespace baton
