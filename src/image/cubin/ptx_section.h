#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ptx/ast.h"

namespace baton::image {

// The bytes of a section of PTX, such as .debug_info. PTX writes them as directives:
// ".b8 1,2", ".b32 .debug_abbrev+16", "$L__string0:".
struct PtxSection {
  std::string bytes;  // little-endian; an address is 0, or what is added to its label
  std::unordered_map<std::string_view, std::uint64_t> labels;      // and where they are
  std::unordered_map<std::uint64_t, std::string_view> references;  // by offset: the label there
};

// The labels are parts of the section's text. Nothing if the text has anything else.
std::optional<PtxSection> read_section(const ptx::Section& section);

}  // namespace baton::image
