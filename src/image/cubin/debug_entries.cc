#include "image/cubin/debug_entries.h"

#include <utility>
#include <variant>

#include "image/cubin/ptx_section.h"

namespace baton::image {

DebugEntries::DebugEntries(const ptx::ParsedModule& module) {
  for (const ptx::TopLevel& item : module.items()) {
    const auto* const written = std::get_if<ptx::Section>(&item);
    if (written == nullptr) continue;
    PtxSection* const into = section(written->name);
    if (into == nullptr) continue;
    if (auto found = read_section(*written)) *into = std::move(*found);
  }
  read();
}

DebugEntries::DebugEntries(const std::vector<ElfSection>& sections) {
  for (const ElfSection& each : sections) {
    PtxSection* const into = section(each.name);
    if (into != nullptr && each.is_readable) into->bytes = each.bytes;
  }
  read();
}

// Those that are needed here; null for others.
PtxSection* DebugEntries::section(std::string_view name) {
  if (name == ".debug_info") return &info_;
  if (name == ".debug_abbrev") return &abbreviations_;
  return name == ".debug_str" ? &strings_ : nullptr;
}

void DebugEntries::read() {
  if (info_.bytes.empty() || abbreviations_.bytes.empty()) return;
  entries_ = read_unit(info_, abbreviations_, strings_);
}

}  // namespace baton::image
