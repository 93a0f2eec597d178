#include "base/array/non_finite.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace baton {
namespace {

// Counts block by block, which a compiler makes vector instructions of.
template <typename Word>
std::int64_t count_words(std::string_view bytes, Word special) {
  constexpr std::size_t kBlock = 64;
  std::array<Word, kBlock> block;
  std::int64_t count = 0;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), sizeof block);
    if (size < sizeof block) block = {};  // zeros are finite
    std::memcpy(block.data(), bytes.data(), size);
    bytes.remove_prefix(size);
    Word found = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      found = static_cast<Word>(found + ((block[i] & special) == special ? 1 : 0));
    }
    count += found;
  }
  return count;
}

}  // namespace

std::uint64_t non_finite_bits(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 0x7ff0'0000'0000'0000;
    case DType::kF32:
      return 0x7f80'0000;
    case DType::kF16:
      return 0x7c00;
    case DType::kBF16:
      return 0x7f80;
    case DType::kF8E5M2:
      return 0x7c;
    case DType::kF8E4M3:
      return 0x7f;  // it has no infinities
    default:
      throw error(ErrorCode::kInternal, "{} has no NaN", to_string(dtype));
  }
}

std::int64_t count_non_finite(const Array& array) {
  if (!is_float(array.dtype)) return 0;
  const std::uint64_t special = non_finite_bits(array.dtype);
  switch (size_of(array.dtype)) {
    case 1:
      return count_words(array.bytes, static_cast<std::uint8_t>(special));
    case 2:
      return count_words(array.bytes, static_cast<std::uint16_t>(special));
    case 4:
      return count_words(array.bytes, static_cast<std::uint32_t>(special));
    default:
      return count_words(array.bytes, special);
  }
}

}  // namespace baton
