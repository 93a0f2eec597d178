#include "image/cubin/cubin.h"

#include <fmt/core.h>

#include "image/container/bytes.h"
#include "image/cubin/nv_record.h"

namespace baton::image {
namespace {

constexpr std::size_t kSymbolSize = 24;
constexpr std::uint32_t kNote = 7;

}  // namespace

Cubin::Cubin(std::string_view bytes, std::string_view name) : elf_(bytes, name, "cubin") {
  // Where e_flags keeps the number depends on the ABI version.
  if (abi() == 7) sm_ = static_cast<int>(elf_.flags() & 0xff);
  if (abi() == 8) sm_ = static_cast<int>(elf_.flags() >> 8 & 0xff);
  read_symbols();
}

void Cubin::read_symbols() {
  for (const Section& table : sections()) {
    if (table.type != ElfFile::kSymbolTable || (table.flags & kMercury) != 0) continue;
    const Section* strings = section(table.link);
    if (!table.is_readable || strings == nullptr) return;
    const ElfStrings names(strings->bytes);
    for (std::size_t at = 0; at + kSymbolSize <= table.bytes.size(); at += kSymbolSize) {
      const std::string_view row = table.bytes.substr(at, kSymbolSize);
      Symbol symbol;
      symbol.name = names.at(load_or_zero<std::uint32_t>(row, 0)).value_or("");
      symbol.type = load_or_zero<std::uint8_t>(row, 4) & 0xf;
      symbol.other = load_or_zero<std::uint8_t>(row, 5);
      symbol.section = load_or_zero<std::uint16_t>(row, 6);
      symbol.value = load_or_zero<std::uint64_t>(row, 8);
      symbol.size = load_or_zero<std::uint64_t>(row, 16);
      symbols_.push_back(symbol);
    }
    return;
  }
}

bool Cubin::is_accelerated() const {
  if (abi() == 7) return (elf_.flags() >> 11 & 1) != 0;
  // ABI 8: the flag as CUDA 12.9 sets it, and in .nv.compat code 9 with the value 1.
  constexpr std::uint32_t kAccelerated = 8;
  if (abi() == 8 && (elf_.flags() & kAccelerated) != 0) return true;
  const Section* compat = section(".nv.compat", kCompat);
  if (compat == nullptr) return false;
  constexpr std::uint8_t kIsaClass = 9;
  bool found = false;
  for_each_record(compat->bytes, [&](const NvRecord& record) {
    if (record.code == kIsaClass) found = record.value == 1;
  });
  return found;
}

std::string Cubin::arch() const {
  if (!sm_) return {};
  std::string out = fmt::format("sm_{}", *sm_);
  if (is_accelerated()) return out + "a";
  // The family suffix leaves no trace but in the assembler's arguments.
  const std::string family = fmt::format("-arch {}f", out);
  if (tool_info().arguments.find(family) != std::string_view::npos) out += "f";
  return out;
}

std::optional<std::uint32_t> Cubin::toolkit() const {
  if (abi() == 7) return elf_.version();
  // .note.nv.cuinfo: u16 version, u16 architecture, u32 toolkit.
  const Section* note = section(".note.nv.cuinfo", kNote);
  constexpr std::size_t kDescription = 24;  // after the sizes, the type and the padded name
  return note == nullptr ? std::nullopt : load<std::uint32_t>(note->bytes, kDescription + 4);
}

DebugInfo Cubin::debug() const {
  DebugInfo found = DebugInfo::kNone;
  for (const Section& candidate : sections()) {
    if ((candidate.flags & kMercury) != 0) continue;
    if (candidate.name == ".debug_info") return DebugInfo::kFull;
    if (candidate.name == ".debug_line") found = DebugInfo::kLines;
  }
  return found;
}

// .note.nv.tkinfo: a note of "NVIDIA Corp", type 2000, whose description is u32 version, u32 0, and
// the offsets of four strings that follow: tool, version, build, arguments.
Cubin::ToolInfo Cubin::tool_info() const {
  const Section* note = section(".note.nv.tkinfo", kNote);
  constexpr std::size_t kDescription = 24;  // after the sizes, the type and the padded name
  constexpr std::size_t kText = kDescription + 24;
  if (note == nullptr || note->bytes.size() <= kText) return {};
  const std::string_view text = note->bytes.substr(kText);
  const auto string = [&](int index) -> std::string_view {
    const auto offset = load_or_zero<std::uint32_t>(
        note->bytes, kDescription + 8 + 4 * static_cast<std::size_t>(index));
    if (offset >= text.size()) return {};
    const std::string_view rest = text.substr(offset);
    return rest.substr(0, rest.find('\0'));
  };
  return {string(0), string(1), string(3)};
}

std::string Cubin::producer() const {
  const ToolInfo info = tool_info();
  if (info.tool.empty() || info.version.empty()) return std::string(info.tool);
  return fmt::format("{}, {}", info.tool, info.version);
}

}  // namespace baton::image
