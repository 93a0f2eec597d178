#include "shim/preload/symbol_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace baton::preload {

ReadOnlyFile::ReadOnlyFile(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat facts = {};
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) bytes_ = {static_cast<const char*>(mapped), size};
  }
  close(file);
}

ReadOnlyFile::~ReadOnlyFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

SymbolTable::SymbolTable(std::string_view file) : file_(file), elf_(read<Elf64_Ehdr>(file, 0)) {
  if (std::memcmp(elf_.e_ident, ELFMAG, SELFMAG) != 0 || elf_.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf_.e_shentsize != sizeof(Elf64_Shdr)) {
    elf_ = {};
    return;
  }
  for (const Elf64_Word kind : {SHT_DYNSYM, SHT_SYMTAB}) {
    for (std::size_t k = 0; k < elf_.e_shnum; ++k) {
      const Elf64_Shdr each = header(k);
      if (each.sh_type != kind) continue;
      const Elf64_Shdr strings = header(each.sh_link);
      symbols_ = part(file_, each.sh_offset, each.sh_size);
      names_ = part(file_, strings.sh_offset, strings.sh_size);
    }
  }
}

std::string_view SymbolTable::text(std::string_view table, std::size_t at) {
  if (at >= table.size()) return {};
  const std::string_view rest = table.substr(at);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

std::string_view SymbolTable::part(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return {};
  return bytes.substr(at, size);
}

Elf64_Shdr SymbolTable::header(std::size_t index) const {
  if (index >= elf_.e_shnum) return {};
  std::size_t at = 0;
  if (__builtin_add_overflow(elf_.e_shoff, index * sizeof(Elf64_Shdr), &at)) return {};
  return read<Elf64_Shdr>(file_, at);
}

}  // namespace baton::preload
