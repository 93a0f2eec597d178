#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

// What the header of a .npy file says (numpy.lib.format, versions 1.0, 2.0 and 3.0), checked: the
// shape's dimensions are not negative, and `data_bytes` does not overflow.
struct NpyHeader {
  char kind = 'f';       // NumPy's kind: f i u b V
  std::size_t size = 4;  // bytes of one element
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_bytes = 0;  // what the shape and the element need
  std::size_t data_offset = 0;   // where the data starts in the file

  // The type as NumPy writes it, such as "<f4" or "|V2".
  std::string type() const;
};

// NumPy's own limit since 2.0.
inline constexpr std::size_t kMaxNpyDimensions = 64;

// Reads the header at the start of a file's bytes. Takes memory for the shape alone, and no more
// than kMaxNpyDimensions of it. Throws kInvalidInput naming `name`.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

// The header of format 1.0 for the type and shape, C order, padded as the format asks for.
std::string format_npy_header(std::string_view type, const std::vector<std::int64_t>& shape);

}  // namespace baton
