#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/dtype.h"
#include "baton/image.h"
#include "image/container/elf.h"
#include "image/cubin/debug_entries.h"
#include "image/names/source_type.h"
#include "ptx/ast.h"

namespace baton::image {

// A pointer, a number or bytes in a struct.
struct DebugField {
  std::string name;          // "scale"; inside of others "range.first", "weights[2]"
  std::uint64_t offset = 0;  // in bytes, in the struct
  std::uint64_t size = 0;
  bool is_pointer = false;
  std::optional<DType> dtype;  // of the number, or of what the pointer points to; no number: bytes
  bool read_only = false;      // a pointer to const
};

struct DebugParam {
  std::string name;  // empty: it has none
  SourceType type;
  std::uint64_t element_size = 0;  // in bytes, of what a pointer points to; 0: it is not known
  bool is_texture = false;         // a texture or surface object: a handle in 64 bits
  // Of a struct by value: its fields in the order of their bytes, without overlap. Unions and long
  // arrays are bytes. Empty for others, and for a struct with bit fields.
  std::vector<DebugField> fields;
};

// The parameters of functions as the source has them, by the functions' symbols, from the debug
// information (DWARF) of PTX or machine code that was compiled with -G. Nothing where there is no
// debug information, or where it has a form that no compiler of device code writes.
using DebugParams = std::unordered_map<std::string, std::vector<DebugParam>>;
DebugParams debug_params(const DebugEntries& entries);
DebugParams debug_params(const ptx::ParsedModule& module);
DebugParams debug_params(const std::vector<ElfSection>& sections);

// Gives the parameters of kernels their names. Where the symbol tells no types, as that of an
// extern "C" kernel, it gives those too. A kernel with another number of parameters gets nothing,
// and a parameter of another size no type.
void take_params(ImageFacts& facts, const DebugParams& params);

}  // namespace baton::image
