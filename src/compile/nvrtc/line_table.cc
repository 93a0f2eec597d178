#include "compile/nvrtc/line_table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "image/container/bytes.h"
#include "image/container/elf.h"

namespace baton::compiler {
namespace {

using image::load;

// Places in 64-bit ELF ("Tool Interface Standard ELF", 64-bit class).
constexpr std::uint64_t kProgramOffsetAt = 32;
constexpr std::uint64_t kSectionOffsetAt = 40;
constexpr std::uint64_t kProgramCountAt = 56;
constexpr std::uint64_t kSectionCountAt = 60;
constexpr std::uint64_t kSectionHeaderSize = 64;
constexpr std::uint64_t kProgramHeaderSize = 56;
constexpr std::uint32_t kProgbits = 1;
constexpr std::uint32_t kRela = 4;
constexpr std::uint32_t kRel = 9;
// No section of a cubin is aligned to more.
constexpr std::uint64_t kAlignment = 128;

template <typename T>
void put(std::string& bytes, std::uint64_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// A text up to its NUL, from `at` on, which goes past it.
std::optional<std::string_view> take_text(std::string_view bytes, std::size_t& at) {
  const std::size_t end = bytes.find('\0', at);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = bytes.substr(at, end - at);
  at = end + 1;
  return text;
}

// The bytes of `count` numbers in LEB128, from `at` on, which goes past them.
std::optional<std::string_view> take_numbers(std::string_view bytes, std::size_t& at, int count) {
  const std::size_t start = at;
  while (count > 0) {
    if (at >= bytes.size()) return std::nullopt;
    if ((static_cast<unsigned char>(bytes[at++]) & 0x80) == 0) --count;
  }
  return bytes.substr(start, at - start);
}

// The header of a .debug_line section with one table: DWARF 4, 6.2.4.
struct LineTable {
  struct File {
    std::string path;
    std::string_view rest;  // its time and size
  };
  std::vector<File> files;
  std::size_t names_begin = 0;  // of the folders and files, in the section
  std::size_t names_end = 0;
};

// The lengths in front of the names: of all after this one, and of the header after this one.
constexpr std::size_t kUnitLengthAt = 0;
constexpr std::size_t kHeaderLengthAt = 6;

std::optional<LineTable> read_table(std::string_view section) {
  const auto unit = load<std::uint32_t>(section, kUnitLengthAt);
  const auto version = load<std::uint16_t>(section, 4);
  const auto header = load<std::uint32_t>(section, kHeaderLengthAt);
  if (!unit || *unit != section.size() - 4 || !version || *version < 2 || *version > 4 || !header ||
      *header > section.size() - 10) {
    return std::nullopt;
  }
  // Minimum and (from version 4) maximum length, default, line base and range; then as many lengths
  // as there are opcodes below the first special one.
  const std::size_t base_at = 10 + (*version >= 4 ? 1 : 0) + 4;
  const auto base = load<std::uint8_t>(section, base_at);
  if (!base || *base == 0) return std::nullopt;
  LineTable table;
  table.names_begin = base_at + *base;
  std::size_t at = table.names_begin;
  std::vector<std::string_view> folders = {""};
  for (;;) {
    const auto folder = take_text(section, at);
    if (!folder) return std::nullopt;
    if (folder->empty()) break;
    folders.push_back(*folder);
  }
  for (;;) {
    const auto name = take_text(section, at);
    if (!name) return std::nullopt;
    if (name->empty()) break;
    const auto folder = take_numbers(section, at, 1);
    const auto rest = take_numbers(section, at, 2);
    // A table of more than 127 folders is left alone.
    if (!rest || folder->size() != 1 || static_cast<std::uint8_t>((*folder)[0]) >= folders.size()) {
      return std::nullopt;
    }
    const std::filesystem::path in = folders[static_cast<std::uint8_t>((*folder)[0])];
    table.files.push_back({(in / *name).string(), *rest});
  }
  table.names_end = at;
  // NVIDIA's compilers write four zeros more after the names.
  if (table.names_end > kHeaderLengthAt + 4 + std::size_t{*header}) return std::nullopt;
  return table;
}

// The folders and files as bytes; nothing for more folders than one byte counts.
std::optional<std::string> names_of(const LineTable& table) {
  std::vector<std::string> folders;
  std::string files;
  for (const LineTable::File& file : table.files) {
    const std::filesystem::path path = file.path;
    const std::string folder = path.parent_path().string();
    std::size_t index = 0;
    if (!folder.empty()) {
      const auto found = std::find(folders.begin(), folders.end(), folder);
      index = static_cast<std::size_t>(found - folders.begin()) + 1;
      if (found == folders.end()) folders.push_back(folder);
    }
    if (index > 0x7f) return std::nullopt;
    files += path.filename().string() + '\0' + static_cast<char>(index);
    files += file.rest;
  }
  std::string out;
  for (const std::string& folder : folders) out += folder + '\0';
  out += '\0';
  out += files + '\0';
  return out;
}

struct Found {
  image::ElfFile elf;
  std::size_t index = 0;  // of the section
};

std::optional<Found> find_section(std::string_view cubin) {
  try {
    Found found{image::ElfFile(cubin, "", "cubin")};
    const auto& sections = found.elf.sections();
    const auto same = [](const image::ElfSection& section) {
      return section.name == ".debug_line" && section.type == kProgbits && section.is_readable;
    };
    const auto first = std::find_if(sections.begin(), sections.end(), same);
    if (first == sections.end() || load<std::uint16_t>(cubin, kSectionCountAt) != sections.size()) {
      return std::nullopt;
    }
    found.index = static_cast<std::size_t>(first - sections.begin());
    return found;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What comes after the section moves by `shift`; false where something spans its end.
bool move_what_follows(std::string& out, std::uint64_t end, std::uint64_t shift) {
  const auto sections = *load<std::uint64_t>(out, kSectionOffsetAt);
  const auto programs = *load<std::uint64_t>(out, kProgramOffsetAt);
  for (const std::uint64_t at : {kSectionOffsetAt, kProgramOffsetAt}) {
    const auto offset = *load<std::uint64_t>(out, at);
    if (offset >= end) put(out, at, offset + shift);
  }
  for (std::uint64_t i = 0; i < *load<std::uint16_t>(out, kSectionCountAt); ++i) {
    const std::uint64_t at = sections + i * kSectionHeaderSize + 24;
    const auto offset = load<std::uint64_t>(out, at);
    if (!offset) return false;
    if (*offset >= end) put(out, at, *offset + shift);
  }
  for (std::uint64_t i = 0; i < *load<std::uint16_t>(out, kProgramCountAt); ++i) {
    const std::uint64_t at = programs + i * kProgramHeaderSize + 8;
    const auto offset = load<std::uint64_t>(out, at);
    const auto size = load<std::uint64_t>(out, at + 24);
    if (!offset || !size) return false;
    const bool spans_end = *offset < end && end - *offset < *size;
    if (spans_end) return false;
    if (*offset >= end) put(out, at, *offset + shift);
  }
  return true;
}

}  // namespace

std::vector<std::string> line_table_files(std::string_view cubin) {
  std::vector<std::string> files;
  if (const auto found = find_section(cubin)) {
    if (auto table = read_table(found->elf.sections()[found->index].bytes)) {
      for (LineTable::File& file : table->files) files.push_back(std::move(file.path));
    }
  }
  return files;
}

std::string with_line_table_files(std::string cubin,
                                  const std::function<std::string(std::string_view)>& rename) {
  const auto found = find_section(cubin);
  if (!found) return cubin;
  const image::ElfSection& old = found->elf.sections()[found->index];
  std::optional<LineTable> table = read_table(old.bytes);
  if (!table) return cubin;
  bool changed = false;
  for (LineTable::File& file : table->files) {
    std::string name = rename(file.path);
    changed |= name != file.path;
    file.path = std::move(name);
  }
  const auto names = changed ? names_of(*table) : std::nullopt;
  if (!names) return cubin;

  const std::uint64_t names_before = table->names_end - table->names_begin;
  std::string section(old.bytes.substr(0, table->names_begin));
  section += *names;
  section += old.bytes.substr(table->names_end);
  put(section, kUnitLengthAt, static_cast<std::uint32_t>(section.size() - 4));
  put(section, kHeaderLengthAt,
      static_cast<std::uint32_t>(*load<std::uint32_t>(old.bytes, kHeaderLengthAt) + names->size() -
                                 names_before));

  // Headers are changed while the file still has its old shape.
  std::string out = cubin;
  const std::uint64_t end = old.offset + old.size;
  const std::uint64_t growth = section.size() > old.size ? section.size() - old.size : 0;
  const std::uint64_t shift = (growth + kAlignment - 1) / kAlignment * kAlignment;
  for (const image::ElfSection& each : found->elf.sections()) {
    if ((each.type != kRela && each.type != kRel) || each.info != found->index) continue;
    if (!each.is_readable) return cubin;
    const std::uint64_t entry = each.type == kRela ? 24 : 16;
    for (std::uint64_t at = 0; at + entry <= each.size; at += entry) {
      const auto place = *load<std::uint64_t>(each.bytes, at);
      if (place >= table->names_end) {
        put(out, each.offset + at, place + names->size() - names_before);
      }
    }
  }
  const auto headers = *load<std::uint64_t>(cubin, kSectionOffsetAt);
  put(out, headers + found->index * kSectionHeaderSize + 32,
      static_cast<std::uint64_t>(section.size()));
  if (!move_what_follows(out, end, shift)) return cubin;
  section.resize(old.size + shift, '\0');
  return out.replace(old.offset, old.size, section);
}

}  // namespace baton::compiler
