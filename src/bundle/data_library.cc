#include "bundle/data_library.h"

#include <array>

#include "base/file/byte_writer.h"

// "Tool Interface Standard ELF", 64-bit class. Addresses are offsets in the file. The loader writes
// into the dynamic section, which therefore has a segment of its own.

namespace baton::bundle {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = 62;  // EM_X86_64
constexpr std::uint64_t kLoaderPage = 0x1000;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = 183;  // EM_AARCH64
constexpr std::uint64_t kLoaderPage = 0x10000;
#else
#error "give this processor its number in ELF and its largest page"
#endif

constexpr std::uint64_t kFileHeader = 64, kSegmentHeader = 56, kSectionHeader = 64;
constexpr std::uint64_t kSymbolSize = 24, kDynamicEntry = 16;
constexpr std::uint64_t kSegments = 4;

enum SegmentType : std::uint32_t { kLoad = 1, kDynamicSegment = 2, kStack = 0x6474e551 };
enum Flag : std::uint32_t { kWrite = 2, kRead = 4 };
enum SectionType : std::uint32_t {
  kBits = 1,
  kStrings = 3,
  kHash = 5,
  kDynamicSection = 6,
  kDynamicSymbols = 11
};
enum DynamicTag : std::uint64_t {
  kEndTag = 0,
  kHashTag = 4,
  kStringsTag = 5,
  kSymbolsTag = 6,
  kStringsSizeTag = 10,
  kSymbolSizeTag = 11
};

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// What the file has, in the order of the sections. The first section is empty.
struct ElfSectionRow {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t flags;  // 1 written, 2 loaded
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t alignment;
  std::uint64_t entry;
};
constexpr std::uint16_t kHashIndex = 1, kSymbolsIndex = 2, kStringsIndex = 3, kDataIndex = 4,
                        kNamesIndex = 6;

void pad_to(ByteWriter& writer, std::uint64_t size) {
  writer.bytes(std::string(size - writer.view().size(), '\0'));
}

void segment(ByteWriter& writer, std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
             std::uint64_t size, std::uint64_t alignment) {
  writer.number(type);
  writer.number(flags);
  for (const std::uint64_t number : {offset, offset, offset, size, size, alignment}) {
    writer.number(number);
  }
}

}  // namespace

DataLibrary DataLibrary::make(std::string_view symbol, std::uint64_t size) {
  const std::string strings = std::string(1, '\0') + std::string(symbol) + '\0';
  constexpr std::uint64_t kHashSize = 5 * sizeof(std::uint32_t);
  const std::uint64_t hash = kFileHeader + kSegments * kSegmentHeader;
  const std::uint64_t symbols = aligned(hash + kHashSize, 8);
  const std::uint64_t names = symbols + 2 * kSymbolSize;
  const std::uint64_t data = aligned(names + strings.size(), kLoaderPage);
  const std::uint64_t dynamic = aligned(data + size, kLoaderPage);
  const std::array<std::pair<DynamicTag, std::uint64_t>, 6> entries{
      {{kHashTag, hash},
       {kStringsTag, names},
       {kSymbolsTag, symbols},
       {kStringsSizeTag, strings.size()},
       {kSymbolSizeTag, kSymbolSize},
       {kEndTag, 0}}};
  const std::uint64_t dynamic_size = entries.size() * kDynamicEntry;
  std::string section_names(1, '\0');
  const std::uint64_t names_offset = dynamic + dynamic_size;
  std::array<ElfSectionRow, 7> sections{{
      {"", 0, 0, 0, 0, 0, 0, 0, 0},
      {".hash", kHash, 2, hash, kHashSize, kSymbolsIndex, 0, 8, 4},
      {".dynsym", kDynamicSymbols, 2, symbols, 2 * kSymbolSize, kStringsIndex, 1, 8, kSymbolSize},
      {".dynstr", kStrings, 2, names, strings.size(), 0, 0, 1, 0},
      {".rodata", kBits, 2, data, size, 0, 0, 16, 0},
      {".dynamic", kDynamicSection, 3, dynamic, dynamic_size, kStringsIndex, 0, 8, kDynamicEntry},
      {".shstrtab", kStrings, 0, names_offset, 0, 0, 0, 1, 0},
  }};
  std::array<std::uint32_t, sections.size()> name_offsets{};
  for (std::size_t i = 1; i < sections.size(); ++i) {
    name_offsets[i] = static_cast<std::uint32_t>(section_names.size());
    section_names += std::string(sections[i].name) + '\0';
  }
  sections[kNamesIndex].size = section_names.size();
  const std::uint64_t table = aligned(names_offset + section_names.size(), 8);

  ByteWriter head;
  head.bytes(
      std::string_view("\x7f"
                       "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
                       16));
  head.number<std::uint16_t>(3);  // a shared library
  head.number(kMachine);
  head.number<std::uint32_t>(1);
  head.number<std::uint64_t>(0);  // no entry
  head.number(kFileHeader);       // the segments follow
  head.number(table);
  head.number<std::uint32_t>(0);
  for (const std::uint64_t number : {kFileHeader, kSegmentHeader, kSegments, kSectionHeader,
                                     std::uint64_t{sections.size()}, std::uint64_t{kNamesIndex}}) {
    head.number(static_cast<std::uint16_t>(number));
  }
  segment(head, kLoad, kRead, 0, data + size, kLoaderPage);
  segment(head, kLoad, kRead | kWrite, dynamic, dynamic_size, kLoaderPage);
  segment(head, kDynamicSegment, kRead | kWrite, dynamic, dynamic_size, 8);
  segment(head, kStack, kRead | kWrite, 0, 0, 16);
  // One bucket, whose chain is the one symbol.
  for (const std::uint32_t number : {1u, 2u, 1u, 0u, 0u}) head.number(number);
  pad_to(head, symbols + kSymbolSize);    // the first symbol is empty
  head.number<std::uint32_t>(1);          // its name in the strings
  head.number<std::uint8_t>(1 << 4 | 1);  // global, data
  head.number<std::uint8_t>(0);
  head.number(kDataIndex);
  head.number(data);
  head.number(size);
  head.bytes(strings);
  pad_to(head, data);

  ByteWriter tail;
  pad_to(tail, dynamic - data - size);
  for (const auto& [tag, value] : entries) {
    tail.number<std::uint64_t>(tag);
    tail.number(value);
  }
  tail.bytes(section_names);
  pad_to(tail, table - data - size);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const ElfSectionRow& section = sections[i];
    tail.number(name_offsets[i]);
    tail.number(section.type);
    tail.number(section.flags);
    tail.number((section.flags & 2) != 0 ? section.offset : 0);
    tail.number(section.offset);
    tail.number(section.size);
    tail.number(section.link);
    tail.number(section.info);
    tail.number(section.alignment);
    tail.number(section.entry);
  }
  return {head.take(), tail.take()};
}

}  // namespace baton::bundle
