#include "image/container/elf.h"

#include <algorithm>

#include "base/error.h"
#include "image/container/bytes.h"

namespace baton::image {
namespace {

constexpr std::size_t kSectionSize = 64;
constexpr std::size_t kSegmentSize = 56;
constexpr std::uint16_t kNamesElsewhere = 0xffff;  // SHN_XINDEX
constexpr char kClass64LittleEndian[] = {2, 1, 1};
// Of -ffunction-sections objects; beyond that a table is not a real one.
constexpr std::uint64_t kMaxSections = std::uint64_t{1} << 24;

// Where the section table lies. Beyond 0xfeff sections the counts move into section 0.
struct SectionTable {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::uint64_t names = 0;
  std::uint16_t entry_size = 0;
};

SectionTable table_of(std::string_view bytes) {
  SectionTable table;
  table.offset = load_or_zero<std::uint64_t>(bytes, 40);
  table.entry_size = load_or_zero<std::uint16_t>(bytes, 58);
  table.count = load_or_zero<std::uint16_t>(bytes, 60);
  table.names = load_or_zero<std::uint16_t>(bytes, 62);
  const auto first = table.offset == 0 ? std::nullopt : slice(bytes, table.offset, kSectionSize);
  if (first && table.count == 0) table.count = load_or_zero<std::uint64_t>(*first, 32);
  if (first && table.names == kNamesElsewhere)
    table.names = load_or_zero<std::uint32_t>(*first, 40);
  return table;
}

ElfSection section_of(std::string_view file, std::string_view row) {
  ElfSection section;
  section.type = load_or_zero<std::uint32_t>(row, 4);
  section.flags = load_or_zero<std::uint64_t>(row, 8);
  section.offset = load_or_zero<std::uint64_t>(row, 24);
  section.size = load_or_zero<std::uint64_t>(row, 32);
  section.link = load_or_zero<std::uint32_t>(row, 40);
  section.info = load_or_zero<std::uint32_t>(row, 44);
  if (section.type != ElfFile::kNobits) {
    if (const auto found = slice(file, section.offset, section.size)) {
      section.bytes = *found;
      section.is_readable = true;
    }
  }
  return section;
}

}  // namespace

ElfStrings::ElfStrings(std::string_view table) : table_(table) {
  for (std::size_t at = table.find('\0'); at != std::string_view::npos;
       at = table.find('\0', at + 1)) {
    ends_.push_back(at);
  }
}

std::optional<std::string_view> ElfStrings::at(std::uint64_t offset) const {
  const auto end = std::lower_bound(ends_.begin(), ends_.end(), offset);
  if (end == ends_.end()) return std::nullopt;
  return table_.substr(offset, *end - offset);
}

bool ElfFile::has_magic(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

std::uint16_t ElfFile::machine_of(std::string_view bytes) {
  return load_or_zero<std::uint16_t>(bytes, 18);
}

std::optional<std::uint64_t> ElfFile::extent_of(std::string_view bytes) {
  if (bytes.size() < kHeaderSize || !has_magic(bytes) ||
      bytes.substr(4, 3) != std::string_view(kClass64LittleEndian, 3)) {
    return std::nullopt;
  }
  const SectionTable table = table_of(bytes);
  const auto segments = load_or_zero<std::uint64_t>(bytes, 32);
  const auto segment_size = load_or_zero<std::uint16_t>(bytes, 54);
  const auto segment_count = load_or_zero<std::uint16_t>(bytes, 56);
  if (table.count > kMaxSections || (table.count != 0 && table.entry_size != kSectionSize) ||
      (segment_count != 0 && segment_size != kSegmentSize)) {
    return std::nullopt;
  }
  std::uint64_t end = kHeaderSize;
  const auto reach = [&](std::uint64_t offset, std::uint64_t size) {
    if (!slice(bytes, offset, size)) return false;
    end = std::max(end, offset + size);
    return true;
  };
  if (segment_count != 0 && !reach(segments, std::uint64_t{segment_count} * kSegmentSize)) {
    return std::nullopt;
  }
  if (table.count == 0) return end;
  if (!reach(table.offset, table.count * kSectionSize)) return std::nullopt;
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const ElfSection section =
        section_of(bytes, bytes.substr(table.offset + i * kSectionSize, kSectionSize));
    if (section.is_readable && section.type != 0)
      end = std::max(end, section.offset + section.size);
  }
  return end;
}

std::uint64_t ElfFile::size_of(const void* bytes) {
  const auto* start = static_cast<const char*>(bytes);
  if (!has_magic({start, 4}) ||
      std::string_view(start + 4, 3) != std::string_view(kClass64LittleEndian, 3)) {
    return 0;
  }
  const std::string_view header(start, kHeaderSize);
  const auto table = load_or_zero<std::uint64_t>(header, 40);
  const auto count = load_or_zero<std::uint16_t>(header, 60);
  if (load_or_zero<std::uint16_t>(header, 58) != kSectionSize || table < kHeaderSize) return 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // no file is as large
  if (table > kMost) return 0;
  std::uint64_t end = table + count * kSectionSize;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view row(start + table + i * kSectionSize, kSectionSize);
    const auto offset = load_or_zero<std::uint64_t>(row, 24);
    const auto size = load_or_zero<std::uint64_t>(row, 32);
    const bool is_stored = load_or_zero<std::uint32_t>(row, 4) != kNobits;
    if (is_stored && offset <= kMost && size <= kMost) end = std::max(end, offset + size);
  }
  return end;
}

ElfFile::ElfFile(std::string_view bytes, std::string_view name, std::string_view what) {
  if (bytes.size() < kHeaderSize) {
    throw error(ErrorCode::kInvalidInput,
                "{} is truncated: {} bytes, and a {}'s header alone has {}", name, bytes.size(),
                what, kHeaderSize);
  }
  if (bytes.substr(4, 3) != std::string_view(kClass64LittleEndian, 3)) {
    throw error(ErrorCode::kInvalidInput, "{} is not a 64-bit little-endian ELF file", name);
  }
  abi_ = static_cast<std::uint8_t>(bytes[8]);
  type_ = load_or_zero<std::uint16_t>(bytes, 16);
  version_ = load_or_zero<std::uint32_t>(bytes, 20);
  flags_ = load_or_zero<std::uint32_t>(bytes, 48);

  const SectionTable table = table_of(bytes);
  if (table.count == 0) return;
  if (table.entry_size != kSectionSize || table.count > kMaxSections ||
      table.offset < kHeaderSize) {
    throw error(ErrorCode::kInvalidInput,
                "{} has a broken section table: {} entries of {} bytes at offset {}", name,
                table.count, table.entry_size, table.offset);
  }
  const auto rows = slice(bytes, table.offset, table.count * kSectionSize);
  if (!rows || table.names >= table.count) {
    throw error(ErrorCode::kInvalidInput,
                "{} is truncated: its section table of {} entries at offset {} exceeds "
                "its {} bytes",
                name, table.count, table.offset, bytes.size());
  }
  sections_.reserve(table.count);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    sections_.push_back(section_of(bytes, rows->substr(i * kSectionSize, kSectionSize)));
  }
  const ElfStrings names(sections_[table.names].bytes);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    sections_[i].name = names.at(load_or_zero<std::uint32_t>(*rows, i * kSectionSize)).value_or("");
  }
}

const ElfSection* ElfFile::section(std::string_view name, std::uint32_t type) const {
  const ElfSection* found = nullptr;
  for (const ElfSection& candidate : sections_) {
    if (candidate.type != type || candidate.name != name) continue;
    if (found != nullptr) return nullptr;
    found = &candidate;
  }
  return found;
}

}  // namespace baton::image
