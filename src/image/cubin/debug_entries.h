#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "image/container/elf.h"
#include "image/cubin/dwarf_unit.h"
#include "ptx/ast.h"

namespace baton::image {

// The debug information (DWARF) of PTX or machine code that was compiled with -G. The texts are
// parts of what is kept here.
class DebugEntries {
 public:
  // Empty where there is no debug information, or where it has a form that no compiler of device
  // code writes.
  explicit DebugEntries(const ptx::ParsedModule& module);
  explicit DebugEntries(const std::vector<ElfSection>& sections);
  DebugEntries(const DebugEntries&) = delete;
  DebugEntries& operator=(const DebugEntries&) = delete;

  const std::vector<DwarfEntry>& all() const { return entries_; }

  // The entries right inside of another one.
  template <typename Visit>
  void for_each_inside(std::size_t outer, Visit&& visit) const {
    const std::uint64_t depth = entries_[outer].depth;
    for (std::size_t i = outer + 1; i < entries_.size() && entries_[i].depth > depth; ++i) {
      if (entries_[i].depth == depth + 1) visit(entries_[i]);
    }
  }

 private:
  PtxSection* section(std::string_view name);
  void read();

  PtxSection info_, abbreviations_, strings_;
  std::vector<DwarfEntry> entries_;
};

}  // namespace baton::image
