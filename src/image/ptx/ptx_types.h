#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "baton/dtype.h"
#include "ptx/ast.h"

namespace baton::image {

// A fundamental type of PTX ("Fundamental Types", PTX ISA 9.0): ".u32" without its dot.
struct PtxType {
  enum class Class : std::uint8_t { kUntyped, kSigned, kUnsigned, kFloat };
  Class of = Class::kUntyped;
  std::uint32_t size = 0;      // in bytes
  std::optional<DType> dtype;  // empty for untyped bits and packed types
};

// Empty for anything else: predicates, opaque types, modifiers that are not types.
std::optional<PtxType> ptx_type(std::string_view name);

// Where a variable of known extent lies.
struct PtxExtent {
  std::uint64_t size = 0;
  std::uint64_t align = 1;
};

// Nothing where the size is unknown (an incomplete array, an opaque type) or over 2^40 bytes.
std::optional<PtxExtent> extent_of(const ptx::Variable& variable);

// The next multiple of `align`, which is a power of two.
inline std::uint64_t align_up(std::uint64_t offset, std::uint64_t align) {
  return (offset + align - 1) / align * align;
}

}  // namespace baton::image
