#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace baton {

// Appends little-endian numbers and counted bytes: what ByteReader reads.
class ByteWriter {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_integral_v<T>);
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
    }
  }
  void bytes(std::string_view bytes) { bytes_ += bytes; }
  void counted_bytes(std::string_view bytes) {
    number<std::uint64_t>(bytes.size());
    bytes_ += bytes;
  }
  void count(std::uint64_t items) { number(items); }

  std::string take() { return std::move(bytes_); }
  std::string_view view() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace baton
