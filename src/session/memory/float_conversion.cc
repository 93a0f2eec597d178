#include "session/memory/float_conversion.h"

#include <cstring>

#include "base/array/float_convert.h"

namespace baton {
namespace {

// No stored form. In 64 bits these would be a NaN that no narrower float becomes.
constexpr std::uint64_t kBeyond = ~std::uint64_t{0};

// Elements of `From`'s size become elements of `To`'s size, by `stored` of their bits. The sizes
// are types, so that no element costs a call.
template <class From, class To, class Stored>
std::size_t convert_all(const std::byte* from, std::size_t count, std::byte* to, Stored stored) {
  for (std::size_t i = 0; i < count; ++i) {
    From bits;
    std::memcpy(&bits, from + i * sizeof(From), sizeof(From));
    const std::uint64_t found = stored(bits);
    if (found == kBeyond) return i;
    const auto value = static_cast<To>(found);
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
  return count;
}

// Calls `use` with a number of so many bytes.
template <class Use>
std::size_t with_size(std::size_t bytes, Use use) {
  switch (bytes) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

}  // namespace

FloatConversion::FloatConversion(DType from, DType to) : from_(from), to_(to) {
  const std::size_t width = 8 * size_of(from);
  if (width > 16) return;
  table_.resize(std::size_t{1} << width);
  for (std::size_t bits = 0; bits < table_.size(); ++bits) table_[bits] = one(bits);
}

std::uint64_t FloatConversion::one(std::uint64_t bits) const {
  return encode_in_range(to_, decode_float(from_, bits)).value_or(kBeyond);
}

std::size_t FloatConversion::convert(const std::byte* from, std::size_t count,
                                     std::byte* to) const {
  return with_size(size_of(from_), [&](auto source) {
    return with_size(size_of(to_), [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      if (table_.empty()) {
        return convert_all<From, To>(from, count, to, [&](From bits) { return one(bits); });
      }
      return convert_all<From, To>(from, count, to, [&](From bits) { return table_[bits]; });
    });
  });
}

}  // namespace baton
