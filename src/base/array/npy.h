#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/array.h"
#include "baton/dtype.h"

namespace baton {

// bfloat16 and fp8 arrays, which NumPy has not, are stored as raw 2- and 1-byte elements: V2 or u2,
// V1 or u1.

// Reads the .npy format 1.0, 2.0 and 3.0 (numpy.lib.format), either byte order, C or Fortran order.
// `wanted` says how raw elements are understood, and the file's type must agree with it.
// Throws kInvalidInput naming `name`: bad magic, header, sizes that overflow or do not match the
// length of the data, unknown dtype, structured dtypes, object arrays.
Array parse_npy(std::string_view bytes, DType wanted, const std::string& name);
// The same, with the dtype that the file itself names (raw types are refused).
Array parse_npy(std::string_view bytes, const std::string& name);
Array read_npy(const std::filesystem::path& path, DType wanted);

// Format 1.0, C order, little-endian; bf16 as u2 and fp8 as u1, which NumPy reads without
// extensions.
std::string format_npy(const Array& array);
void write_npy(const std::filesystem::path& path, const Array& array);

}  // namespace baton
