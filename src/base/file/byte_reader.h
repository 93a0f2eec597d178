#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace baton {

// Reads little-endian numbers and counted parts of any bytes, front to back. Every step past the
// end throws kInvalidInput with the place; no count is believed before the bytes behind it are
// seen.
class ByteReader {
 public:
  // Both must outlive it. `base` is where `bytes` begin in what `name` names.
  ByteReader(std::string_view bytes, const std::string& name, std::uint64_t base = 0)
      : bytes_(bytes), name_(&name), base_(base) {}

  template <typename T>
  T number(const char* what) {
    static_assert(std::is_integral_v<T> && std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, bytes(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::uint8_t byte(const char* what) {
    if (at_ == bytes_.size()) refuse(what, 1);
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }

  // As many bytes as a 64-bit count in front of them says.
  std::string_view counted_bytes(const char* what) {
    return bytes(number<std::uint64_t>(what), what);
  }

  std::string_view bytes(std::uint64_t size, const char* what) {
    if (size > remaining()) refuse(what, size);
    const std::string_view found = bytes_.substr(at_, size);
    at_ += size;
    return found;
  }

  // A 64-bit count of items that take at least `item_bytes` each.
  std::uint64_t count(std::uint64_t item_bytes, const char* what) {
    const auto items = number<std::uint64_t>(what);
    if (items > remaining() / item_bytes) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: {} at byte {} claims {} items of at least {} bytes, {} bytes are left",
                  *name_, what, place() - sizeof(items), items, item_bytes, remaining());
    }
    return items;
  }

  // A 64-bit count, then as many counted parts.
  std::vector<std::string> counted_strings(const char* what) {
    std::vector<std::string> strings;
    for (std::uint64_t left = count(sizeof(std::uint64_t), what); left > 0; --left) {
      strings.emplace_back(counted_bytes(what));
    }
    return strings;
  }

  void expect_end(const char* what) const {
    if (remaining() == 0) return;
    throw error(ErrorCode::kInvalidInput, "{}: {} bytes are left over after {} at byte {}", *name_,
                remaining(), what, place());
  }

  std::uint64_t remaining() const { return bytes_.size() - at_; }
  std::uint64_t place() const { return base_ + at_; }
  const std::string& name() const { return *name_; }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] void refuse(const char* what, std::uint64_t size) const {
    throw error(ErrorCode::kInvalidInput,
                "{} is truncated: {} at byte {} has {} bytes, {} are left", *name_, what, place(),
                size, remaining());
  }

  std::string_view bytes_;
  const std::string* name_;
  std::uint64_t base_;
  std::uint64_t at_ = 0;
};

}  // namespace baton
