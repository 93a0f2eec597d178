#pragma once

#include <elf.h>

#include <cstddef>
#include <string_view>

namespace baton::preload {

// A file in memory, mapped for reading as long as this lives.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const char* path);
  ~ReadOnlyFile();
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  // Empty where the file cannot be read.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// The symbols of an ELF file of 64 bits; of a stripped one, those that other objects see. The bytes
// may be anything: what lies outside of them is not there.
class SymbolTable {
 public:
  explicit SymbolTable(std::string_view file);

  // All names of symbols, each ended by a NUL.
  std::string_view names() const { return names_; }
  // Calls `use(name, symbol)` for each function that the file defines.
  template <typename Use>
  void functions(Use use) const {
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols_.size(); at += sizeof(Elf64_Sym)) {
      const Elf64_Sym symbol = read<Elf64_Sym>(symbols_, at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      use(text(names_, symbol.st_name), symbol);
    }
  }

 private:
  // All zero where not all of it is there.
  template <typename T>
  static T read(std::string_view bytes, std::size_t at) {
    T value{};
    if (at <= bytes.size() && sizeof value <= bytes.size() - at) {
      __builtin_memcpy(&value, bytes.data() + at, sizeof value);
    }
    return value;
  }
  static std::string_view text(std::string_view table, std::size_t at);
  static std::string_view part(std::string_view bytes, std::size_t at, std::size_t size);
  Elf64_Shdr header(std::size_t index) const;

  std::string_view file_;
  Elf64_Ehdr elf_{};
  std::string_view symbols_;
  std::string_view names_;
};

}  // namespace baton::preload
