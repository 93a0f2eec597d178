#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace baton::image {

// The little-endian value at `offset`, or nothing past the end. Copies: nothing is aligned.
template <typename T>
std::optional<T> load(std::string_view bytes, std::uint64_t offset) {
  static_assert(std::is_unsigned_v<T>);
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The same where the caller has checked the extent: zero past the end.
template <typename T>
T load_or_zero(std::string_view bytes, std::uint64_t offset) {
  return load<T>(bytes, offset).value_or(0);
}

// The bytes [offset, offset + size), or nothing where they are not all there.
inline std::optional<std::string_view> slice(std::string_view bytes, std::uint64_t offset,
                                             std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

}  // namespace baton::image
