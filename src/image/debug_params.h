#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/dtype.h"
#include "ptx/ast.h"

namespace baton::image {

// A pointer or a number in a struct.
struct DebugField {
  std::string name;          // "scale"; of a nested struct "range.first"
  std::uint64_t offset = 0;  // in bytes, in the struct
  std::uint64_t size = 0;
  bool is_pointer = false;
  std::optional<DType> dtype;  // of the number, or of what the pointer points to
};

struct DebugParam {
  std::string name;  // empty: it has none
  // Of a struct by value: its fields, each at the next multiple of its size. Empty for others, and
  // for a struct with other fields.
  std::vector<DebugField> fields;
};

// The parameters of functions as the source has them, by the functions' symbols, from the debug
// information (DWARF) of PTX that was compiled with -G. Nothing where there is no debug
// information, or where it has a form that no compiler of PTX writes.
using DebugParams = std::unordered_map<std::string, std::vector<DebugParam>>;
DebugParams debug_params(const ptx::ParsedModule& module);

}  // namespace baton::image
