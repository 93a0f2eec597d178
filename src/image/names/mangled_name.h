#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image/names/source_type.h"

namespace baton::image {

struct MangledName {
  std::string text;  // "rmsnorm<float>(float const*, int)", "ns::table"
  // Empty optional: a variable, or a function whose types are not in its name.
  std::optional<std::vector<SourceType>> params;
};

// Reads a symbol of the Itanium C++ ABI ("Mangling"), the one that CUDA's compilers use. Nothing
// where it is not such a name, or one with parts that are not read (dependent expressions,
// decltype). Unlike abi::__cxa_demangle it takes names of any length and bounds what a hostile one
// can cost: substitutions make the text exponentially longer than the symbol.
std::optional<MangledName> read_mangled(std::string_view symbol);

}  // namespace baton::image
