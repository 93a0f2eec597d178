#include "session/float_conversion.h"

#include <cstring>

#include "base/float_convert.h"

namespace baton {
namespace {

// No stored form. In 64 bits these would be a NaN that no narrower float becomes.
constexpr std::uint64_t kBeyond = ~std::uint64_t{0};

std::uint64_t read(const std::byte* bytes, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, size);
  return bits;
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
  const std::size_t width = size_of(from_), target = size_of(to_);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = read(from + i * width, width);
    const std::uint64_t stored = table_.empty() ? one(bits) : table_[bits];
    if (stored == kBeyond) return i;
    std::memcpy(to + i * target, &stored, target);
  }
  return count;
}

}  // namespace baton
