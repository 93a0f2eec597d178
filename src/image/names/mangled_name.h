#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"

namespace baton::image {

// One parameter as its type in the source says.
struct MangledParam {
  std::string type;                      // "float const*"
  ParamKind kind = ParamKind::kUnknown;  // kUnknown: a class or an enumeration
  std::optional<DType> dtype;            // kScalar: the type; kPointer: the element, where known
  bool read_only = false;                // a pointer or reference to const
  std::uint32_t size = 0;                // in bytes; 0 where the type does not say
};

struct MangledName {
  std::string text;  // "rmsnorm<float>(float const*, int)", "ns::table"
  // Empty optional: a variable, or a function whose types are not in its name.
  std::optional<std::vector<MangledParam>> params;
};

// Reads a symbol of the Itanium C++ ABI ("Mangling"), the one that CUDA's compilers use. Nothing
// where it is not such a name, or one with parts that are not read (dependent expressions,
// decltype). Unlike abi::__cxa_demangle it takes names of any length and bounds what a hostile one
// can cost: substitutions make the text exponentially longer than the symbol.
std::optional<MangledName> read_mangled(std::string_view symbol);

}  // namespace baton::image
