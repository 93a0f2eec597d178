#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "baton/image.h"

namespace baton::image {

// The type of one parameter as the source says.
struct SourceType {
  std::string type;                      // "float const*"; empty: only its kind is known
  ParamKind kind = ParamKind::kUnknown;  // kUnknown: a class or an enumeration
  std::optional<DType> dtype;            // kScalar: the type; kPointer: the element, where known
  bool read_only = false;                // a pointer or reference to const
  std::uint32_t size = 0;                // in bytes; 0 where the type does not say
};

// The dtype of a number's type in C++, as symbols and debug information have it: "unsigned int",
// "__half". Nothing for others.
std::optional<DType> dtype_of_type(std::string_view name);

}  // namespace baton::image
