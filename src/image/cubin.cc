#include "image/cubin.h"

#include <fmt/format.h>

#include "base/error.h"
#include "image/bytes.h"
#include "image/nv_record.h"

namespace baton::image {
namespace {

// The ELF header and its tables ("Tool Interface Standard ELF", 64-bit class).
constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kSectionSize = 64;
constexpr std::size_t kSymbolSize = 24;
constexpr std::uint16_t kLinked = 2;  // e_type ET_EXEC
constexpr std::uint32_t kSymbolTable = 2;
constexpr std::uint32_t kNote = 7;
constexpr std::uint16_t kFirstReservedSection = 0xff00;

// A string table with the places of its NULs, so that a name costs a look-up and not a scan: many
// symbols may name the tail of one long string.
class Strings {
 public:
  explicit Strings(std::string_view table) : table_(table) {
    for (std::size_t at = table.find('\0'); at != std::string_view::npos;
         at = table.find('\0', at + 1)) {
      ends_.push_back(at);
    }
  }

  std::optional<std::string_view> at(std::uint64_t offset) const {
    const auto end = std::lower_bound(ends_.begin(), ends_.end(), offset);
    if (end == ends_.end()) return std::nullopt;
    return table_.substr(offset, *end - offset);
  }

 private:
  std::string_view table_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace

Cubin::Cubin(std::string_view bytes, std::string_view name) : bytes_(bytes) {
  if (bytes.size() < kHeaderSize) {
    throw error(ErrorCode::kInvalidInput,
                "{} is cut short: {} bytes, and a cubin's header alone has {}", name, bytes.size(),
                kHeaderSize);
  }
  constexpr char kClass64LittleEndian[] = {2, 1, 1};
  if (bytes.substr(4, 3) != std::string_view(kClass64LittleEndian, 3)) {
    throw error(ErrorCode::kInvalidInput, "{} is no 64-bit little-endian ELF file", name);
  }
  abi_ = static_cast<unsigned char>(bytes[8]);
  is_linked_ = load_or_zero<std::uint16_t>(bytes, 16) == kLinked;
  flags_ = load_or_zero<std::uint32_t>(bytes, 48);
  // Where e_flags keeps the number depends on the ABI version.
  if (abi_ == 7) sm_ = static_cast<int>(flags_ & 0xff);
  if (abi_ == 8) sm_ = static_cast<int>(flags_ >> 8 & 0xff);
  read_sections(name);
  read_symbols();
}

void Cubin::read_sections(std::string_view name) {
  const auto table = load_or_zero<std::uint64_t>(bytes_, 40);
  const auto entry_size = load_or_zero<std::uint16_t>(bytes_, 58);
  const auto count = load_or_zero<std::uint16_t>(bytes_, 60);
  const auto names_index = load_or_zero<std::uint16_t>(bytes_, 62);
  if (count == 0) return;
  if (entry_size != kSectionSize || count >= kFirstReservedSection || table < kHeaderSize) {
    throw error(ErrorCode::kInvalidInput,
                "{} has a broken section table: {} entries of {} bytes at offset {}", name, count,
                entry_size, table);
  }
  const auto rows = slice(bytes_, table, std::uint64_t{count} * kSectionSize);
  if (!rows || names_index >= count) {
    throw error(ErrorCode::kInvalidInput,
                "{} is cut short: its section table of {} entries at offset {} does not lie inside "
                "its {} bytes",
                name, count, table, bytes_.size());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view row = rows->substr(i * kSectionSize, kSectionSize);
    Section section;
    section.type = load_or_zero<std::uint32_t>(row, 4);
    section.flags = load_or_zero<std::uint64_t>(row, 8);
    section.size = load_or_zero<std::uint64_t>(row, 32);
    section.link = load_or_zero<std::uint32_t>(row, 40);
    section.info = load_or_zero<std::uint32_t>(row, 44);
    const auto offset = load_or_zero<std::uint64_t>(row, 24);
    if (section.type != kNobits) {
      if (const auto found = slice(bytes_, offset, section.size)) {
        section.bytes = *found;
        section.is_readable = true;
      }
    }
    sections_.push_back(section);
  }
  const Strings names(sections_[names_index].bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const auto offset = load_or_zero<std::uint32_t>(*rows, i * kSectionSize);
    sections_[i].name = names.at(offset).value_or("");
  }
}

void Cubin::read_symbols() {
  for (const Section& table : sections_) {
    if (table.type != kSymbolTable || (table.flags & kMercury) != 0) continue;
    const Section* strings = section(table.link);
    if (!table.is_readable || strings == nullptr) return;
    const Strings names(strings->bytes);
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

const Cubin::Section* Cubin::section(std::string_view name, std::uint32_t type) const {
  const Section* found = nullptr;
  for (const Section& candidate : sections_) {
    if (candidate.type != type || candidate.name != name) continue;
    if (found != nullptr) return nullptr;
    found = &candidate;
  }
  return found;
}

bool Cubin::is_accelerated() const {
  if (abi_ == 7) return (flags_ >> 11 & 1) != 0;
  // ABI 8: in .nv.compat, code 9 with the value 1.
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
