#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/dtype.h"
#include "image/cubin/dwarf_unit.h"
#include "image/names/source_type.h"

namespace baton::image {

// The types of one unit of debug information, by the offsets that its entries name.
class DebugTypes {
 public:
  // Types that are longer chains of others are not known.
  static constexpr int kMostNesting = 8;

  // The entries must outlive it.
  explicit DebugTypes(const std::vector<DwarfEntry>& entries);

  // The number of the type's entry, without qualifiers and aliases.
  std::optional<std::size_t> at(std::uint64_t offset) const;

  // As the mangled name of a function says it; only namespaces are missing.
  SourceType source_type(std::uint64_t offset) const;

  // The bytes of what a pointer points to; 0 where that is not known.
  std::uint64_t element_size(std::uint64_t pointer) const;

  // Whether the type is CUDA's name of a texture object or surface object.
  bool is_texture(std::uint64_t offset) const;

  // The number that a type is; nothing for others. Numbers of few bytes are structs in CUDA's
  // headers.
  static std::optional<DType> number_of(const DwarfEntry& type);

 private:
  // A type without qualifiers and aliases, and the qualifiers.
  struct Unqualified {
    std::optional<std::size_t> at;  // empty: void, or not known
    bool is_void = false, is_const = false, is_volatile = false;
  };
  Unqualified unqualified(std::uint64_t offset) const;

  // "float const*"; empty where it has no simple text, such as an array's.
  std::string text_of(const Unqualified& type, int nesting) const;

  const std::vector<DwarfEntry>& entries_;
  std::unordered_map<std::uint64_t, std::size_t> at_;  // by offset
};

}  // namespace baton::image
