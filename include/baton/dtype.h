#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "baton/export.h"
#include "baton/span.h"

namespace baton {

// The element types of programs, buffers and arrays.
enum class DType : std::uint8_t {
  kF16,
  kBF16,
  kF32,
  kF64,
  kF8E4M3,
  kF8E5M2,
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
};

BATON_API std::string_view to_string(DType dtype) noexcept;
// All names, in the enumeration's order: for messages that suggest one.
BATON_API Span<const std::string_view> dtype_names() noexcept;
BATON_API std::optional<DType> parse_dtype(std::string_view name) noexcept;
// Bytes of one element.
BATON_API std::size_t size_of(DType dtype) noexcept;
// The floats come first in the enumeration.
constexpr bool is_float(DType dtype) noexcept {
  return dtype <= DType::kF8E5M2;
}
BATON_API bool is_signed_integer(DType dtype) noexcept;

}  // namespace baton
