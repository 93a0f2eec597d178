#pragma once

// The container of cubins and of host binaries: 64-bit little-endian ELF ("Tool Interface Standard
// ELF", 64-bit class). Everything is read by copying from checked ranges: the bytes may be
// anything.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace baton::image {

// A string table with the places of its NULs, so that a name costs a look-up and not a scan: many
// symbols may name the tail of one long string.
class ElfStrings {
 public:
  explicit ElfStrings(std::string_view table);
  // The string that starts there; nothing where the table does not end it.
  std::optional<std::string_view> at(std::uint64_t offset) const;

 private:
  std::string_view table_;
  std::vector<std::uint64_t> ends_;
};

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;    // also of sections without bytes
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::string_view bytes;    // empty for NOBITS, and for what lies outside the file
  bool is_readable = false;  // `bytes` are all of it
};

class ElfFile {
 public:
  static constexpr std::uint32_t kSymbolTable = 2;  // section types
  static constexpr std::uint32_t kNobits = 8;
  static constexpr std::uint16_t kRelocatable = 1;  // file types
  static constexpr std::uint16_t kLinked = 2;
  static constexpr std::uint16_t kShared = 3;
  static constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA
  static constexpr std::size_t kHeaderSize = 64;

  static bool has_magic(std::string_view bytes);
  // e_machine of what has the magic; 0 where it is cut off.
  static std::uint16_t machine_of(std::string_view bytes);
  // The size of the file that starts at `bytes`, which may go on after it: where its headers and
  // sections end. Nothing where the headers are not all there.
  static std::optional<std::uint64_t> extent_of(std::string_view bytes);
  // The same of a file that is known by its address alone, as a driver is handed it: the headers
  // are taken at their word. 0 where they cannot be those of a file.
  static std::uint64_t size_of(const void* bytes);

  // `bytes` must outlive it. Throws kInvalidInput naming the file, which is to be `what` ("cubin"),
  // where the headers, the section table or its names cannot be read. No section is not an error.
  ElfFile(std::string_view bytes, std::string_view name, std::string_view what);

  const std::vector<ElfSection>& sections() const { return sections_; }
  // The section of that index, or null.
  const ElfSection* section(std::size_t index) const {
    return index < sections_.size() ? &sections_[index] : nullptr;
  }
  // The one section of that name and type, or null where there is none, or several.
  const ElfSection* section(std::string_view name, std::uint32_t type) const;

  std::uint32_t version() const { return version_; }
  std::uint16_t type() const { return type_; }
  std::uint8_t abi() const { return abi_; }
  std::uint32_t flags() const { return flags_; }

 private:
  std::vector<ElfSection> sections_;
  std::uint32_t version_ = 0;
  std::uint16_t type_ = 0;
  std::uint8_t abi_ = 0;
  std::uint32_t flags_ = 0;
};

}  // namespace baton::image
