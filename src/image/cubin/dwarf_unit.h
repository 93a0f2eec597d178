#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "image/cubin/ptx_section.h"

namespace baton::image {

// The tags of DWARF that are needed here.
enum DwarfTag : std::uint64_t {
  kTagArray = 0x01,
  kTagClass = 0x02,
  kTagEnumeration = 0x04,
  kTagParameter = 0x05,
  kTagMember = 0x0d,
  kTagPointer = 0x0f,
  kTagReference = 0x10,
  kTagStruct = 0x13,
  kTagTypedef = 0x16,
  kTagUnion = 0x17,
  kTagSubrange = 0x21,
  kTagBase = 0x24,
  kTagConst = 0x26,
  kTagFunction = 0x2e,
  kTagVariable = 0x34,
  kTagVolatile = 0x35,
  kTagRestrict = 0x37,
  kTagUnspecified = 0x3b,  // void
  kTagRvalueReference = 0x42,
};

// One entry of debug information, with those of its attributes that are needed here. What it lacks
// is empty or 0.
struct DwarfEntry {
  std::uint64_t offset = 0;  // in the section, which `type` of other entries names
  std::uint64_t depth = 0;   // the entries that follow with a larger depth are inside of it
  std::uint64_t tag = 0;
  std::string_view name;
  std::string_view symbol;      // the name of a function or variable
  std::uint64_t type = 0;       // the offset of the entry for its type
  std::uint64_t size = 0;       // in bytes
  std::uint64_t encoding = 0;   // of a basic type
  std::uint64_t member_at = 0;  // of a member: where in its struct, in bytes
  std::uint64_t bit_size = 0;   // of a member that is a bit field
  std::uint64_t count = 0;      // the elements of an array's dimension
};

// The entries of the first unit, in their order. A module of PTX has one unit. The texts are parts
// of the sections. Reads versions 2 to 4, and stops at what it does not know.
std::vector<DwarfEntry> read_unit(const PtxSection& info, const PtxSection& abbreviations,
                                  const PtxSection& strings);

}  // namespace baton::image
