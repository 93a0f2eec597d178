#include "base/array/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/array/npy_header.h"
#include "base/error.h"
#include "base/file/file.h"

namespace baton {
namespace {

// How each dtype is stored: NumPy's kind for it, or u where NumPy has none.
char stored_kind(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kF32:
    case DType::kF64:
      return 'f';
    case DType::kBool:
      return 'b';
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return 'i';
    default:
      return 'u';
  }
}

bool is_raw(DType dtype) {
  return is_float(dtype) && stored_kind(dtype) == 'u';
}

bool agrees(const NpyHeader& header, DType dtype) {
  if (header.size != size_of(dtype)) return false;
  return header.kind == stored_kind(dtype) || (header.kind == 'V' && is_raw(dtype));
}

std::string stored_type(DType dtype) {
  return fmt::format("{}{}{}", size_of(dtype) == 1 ? '|' : '<', stored_kind(dtype), size_of(dtype));
}

void swap_bytes(std::string& bytes, std::size_t size) {
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    std::reverse(bytes.data() + i, bytes.data() + i + size);
  }
}

// Elements in Fortran order, the first index running fastest, put into C order. Every extent is
// positive.
template <std::size_t kSize>
void to_c_order(std::string_view from, const std::vector<std::int64_t>& shape, std::string& to) {
  std::array<std::int64_t, kMaxNpyDimensions> stride;
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = elements;
    elements *= shape[axis];
  }
  std::array<std::int64_t, kMaxNpyDimensions> index{};
  std::int64_t source = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    std::memcpy(to.data() + i * kSize, from.data() + source * kSize, kSize);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < shape[axis]) break;
      source -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

std::string in_c_order(std::string_view data, const std::vector<std::int64_t>& shape,
                       std::size_t size) {
  std::string bytes(data.size(), '\0');
  switch (size) {
    case 1:
      to_c_order<1>(data, shape, bytes);
      break;
    case 2:
      to_c_order<2>(data, shape, bytes);
      break;
    case 4:
      to_c_order<4>(data, shape, bytes);
      break;
    default:
      to_c_order<8>(data, shape, bytes);
      break;
  }
  return bytes;
}

Array read_data(std::string_view bytes, const NpyHeader& header, DType dtype,
                const std::string& name) {
  const std::string_view data = bytes.substr(header.data_offset);
  if (data.size() != header.data_bytes) {
    throw error(ErrorCode::kInvalidInput,
                "{}: shape ({}) of {} needs {} bytes of data, but {} follow the header; the file "
                "is {}",
                name, fmt::join(header.shape, ", "), header.type(), header.data_bytes, data.size(),
                data.size() < header.data_bytes ? "cut short" : "longer than one array");
  }
  Array array{dtype, header.shape, {}};
  const bool reorder = header.fortran_order && header.shape.size() > 1 && !data.empty();
  array.bytes = reorder ? in_c_order(data, header.shape, header.size) : std::string(data);
  if (header.big_endian && header.size > 1) swap_bytes(array.bytes, header.size);
  return array;
}

}  // namespace

Array parse_npy(std::string_view bytes, DType wanted, const std::string& name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  if (!agrees(header, wanted)) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the array holds {}, but {} is wanted; store it as {}{}", name, header.type(),
                to_string(wanted), stored_type(wanted),
                is_raw(wanted) ? fmt::format(" or |V{}", size_of(wanted)) : "");
  }
  return read_data(bytes, header, wanted, name);
}

Array parse_npy(std::string_view bytes, const std::string& name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  for (std::size_t i = 0; i < dtype_names().size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_raw(dtype) && agrees(header, dtype)) return read_data(bytes, header, dtype, name);
  }
  throw error(ErrorCode::kInvalidInput,
              "{}: the array holds raw elements ({}), which name no dtype; say which one is meant",
              name, header.type());
}

Array read_npy(const std::filesystem::path& path, DType wanted) {
  return parse_npy(read_file(path), wanted, path.string());
}

std::string format_npy(const Array& array) {
  std::uint64_t expected = size_of(array.dtype);
  for (const std::int64_t extent : array.shape) expected *= static_cast<std::uint64_t>(extent);
  if (expected != array.bytes.size() || array.shape.size() > kMaxNpyDimensions) {
    throw error(ErrorCode::kInternal,
                "an array of shape ({}) and dtype {} is to be stored, but it holds {} bytes",
                fmt::join(array.shape, ", "), to_string(array.dtype), array.bytes.size());
  }
  return format_npy_header(stored_type(array.dtype), array.shape) + array.bytes;
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  write_file_atomically(path, format_npy(array));
}

}  // namespace baton
