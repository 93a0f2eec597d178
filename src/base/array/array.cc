#include "base/array/array.h"

#include <fmt/format.h>

#include <cstddef>

#include "base/error.h"

namespace baton {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<std::int64_t> index_of(std::int64_t element, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

void check_bytes(const Array& array, std::string_view what) {
  std::uint64_t bytes = size_of(array.dtype);
  bool fits = true, is_empty = false;
  for (const std::int64_t extent : array.shape) {
    if (extent < 0) {
      throw error(ErrorCode::kInvalidInput, "{} has the shape {}, with a negative extent", what,
                  shape_text(array.shape));
    }
    is_empty = is_empty || extent == 0;
    fits = fits && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
  }
  if (is_empty) {
    bytes = 0;
  } else if (!fits) {
    throw error(ErrorCode::kInvalidInput, "{} has the shape {}, more bytes than can be addressed",
                what, shape_text(array.shape));
  }
  if (array.bytes.size() == bytes) return;
  throw error(ErrorCode::kInvalidInput, "{} holds {} bytes, {} of shape {} has {}", what,
              array.bytes.size(), to_string(array.dtype), shape_text(array.shape), bytes);
}

std::int64_t Array::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

}  // namespace baton
