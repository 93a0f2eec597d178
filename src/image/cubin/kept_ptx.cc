#include "image/cubin/kept_ptx.h"

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "image/container/bytes.h"
#include "image/container/elf.h"

namespace baton::image {
namespace {

constexpr std::string_view kSection = ".nv_baton_ptx";
constexpr std::uint32_t kProgramBits = 1;  // a section type: what a program makes of it

// Where the ELF header and a row of the section table have what is changed.
constexpr std::size_t kTableOffset = 40;
constexpr std::size_t kTableCount = 60;
constexpr std::size_t kTableNames = 62;
constexpr std::size_t kRowSize = 64;
constexpr std::size_t kRowName = 0;
constexpr std::size_t kRowType = 4;
constexpr std::size_t kRowOffset = 24;
constexpr std::size_t kRowBytes = 32;
constexpr std::size_t kRowAlignment = 48;
constexpr std::size_t kMostSections = 0xfeff;  // more have their count elsewhere

template <typename T>
void store(std::string& bytes, std::size_t at, T value) {
  for (std::size_t k = 0; k < sizeof value; ++k) {
    bytes[at + k] = static_cast<char>(value >> (8 * k) & 0xff);
  }
}

// The numbers of sections that hold PTX.
std::vector<std::size_t> kept_sections(const ElfFile& elf) {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < elf.sections().size(); ++k) {
    if (elf.sections()[k].name == kSection) found.push_back(k);
  }
  return found;
}

void align(std::string& bytes) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
}

}  // namespace

// The new bytes come after the old ones, which stay where they are: nothing that points into the
// file changes. The section table, with one row more, is last.
std::string keep_ptx(std::string_view cubin, std::string_view ptx, std::string_view name) {
  const ElfFile elf(cubin, name, "cubin");
  const auto table = load_or_zero<std::uint64_t>(cubin, kTableOffset);
  const auto names = load_or_zero<std::uint16_t>(cubin, kTableNames);
  std::size_t count = elf.sections().size();
  if (count == 0 || count >= kMostSections || names >= count) {
    throw error(ErrorCode::kInvalidInput, "{} has a section table of {} rows, which takes no more",
                name, count);
  }
  const std::vector<std::size_t> old = kept_sections(elf);
  std::string rows(cubin.substr(table, count * kRowSize));
  std::string file(cubin);
  align(file);
  const std::size_t ptx_offset = file.size();
  file += ptx;
  if (old.empty()) {
    align(file);
    const std::size_t names_offset = file.size();
    file += elf.sections()[names].bytes;
    const std::size_t name_offset = file.size() - names_offset;
    file += kSection;
    file += '\0';
    store(rows, names * kRowSize + kRowOffset, std::uint64_t{names_offset});
    store(rows, names * kRowSize + kRowBytes, std::uint64_t{file.size() - names_offset});
    rows.resize(rows.size() + kRowSize);
    store(rows, count * kRowSize + kRowName, static_cast<std::uint32_t>(name_offset));
    store(rows, count * kRowSize + kRowAlignment, std::uint64_t{1});
    ++count;
  }
  const std::size_t row = old.empty() ? count - 1 : old.front();
  store(rows, row * kRowSize + kRowType, kProgramBits);
  store(rows, row * kRowSize + kRowOffset, std::uint64_t{ptx_offset});
  store(rows, row * kRowSize + kRowBytes, std::uint64_t{ptx.size()});
  align(file);
  store(file, kTableOffset, std::uint64_t{file.size()});
  store(file, kTableCount, static_cast<std::uint16_t>(count));
  file += rows;
  // A broken table may give the section's name to others too.
  if (kept_ptx(file) != ptx) {
    throw error(ErrorCode::kInvalidInput, "{} has a broken section table, which takes no more rows",
                name);
  }
  return file;
}

std::string_view kept_ptx(std::string_view cubin) {
  if (!ElfFile::has_magic(cubin)) return {};
  try {
    const ElfFile elf(cubin, "<cubin>", "cubin");
    const ElfSection* section = elf.section(kSection, kProgramBits);
    return section != nullptr ? section->bytes : std::string_view{};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace baton::image
