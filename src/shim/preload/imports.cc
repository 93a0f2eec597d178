#include "shim/preload/imports.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "shim/preload/own_functions.h"

namespace baton::preload {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlotTypes[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#else
constexpr std::uint32_t kSlotTypes[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#endif

struct Bytes {
  std::uintptr_t begin = 0;
  std::size_t size = 0;

  bool holds(std::uintptr_t address) const { return address - begin < size; }
};

// The tables of an object by which the loader fills the object's slots.
struct ImportTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  Bytes relocations[2];
  Bytes read_only;  // once the loader has filled it
};

ImportTables import_tables(const LoadedObject& object) {
  ImportTables tables;
  const ElfW(Dyn)* entry = nullptr;
  for (std::size_t k = 0; k < object.header_count; ++k) {
    const ElfW(Phdr)& header = object.headers[k];
    const std::uintptr_t begin = object.base + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_GNU_RELRO) tables.read_only = {begin, header.p_memsz};
  }
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // The C library replaces distances by addresses.
    const std::uintptr_t value = entry->d_un.d_val;
    const std::uintptr_t address = value < object.base ? object.base + value : value;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(address);
        break;
      case DT_JMPREL:
        tables.relocations[0].begin = address;
        break;
      case DT_PLTRELSZ:
        tables.relocations[0].size = value;
        break;
      case DT_RELA:
        tables.relocations[1].begin = address;
        break;
      case DT_RELASZ:
        tables.relocations[1].size = value;
        break;
      default:
        break;
    }
  }
  return tables;
}

// False where the system keeps the slot from being written.
bool fill(std::uintptr_t slot, const void* function, bool is_read_only) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const pages = reinterpret_cast<void*>(slot / page * page);
  if (is_read_only && mprotect(pages, page, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(slot), &function, sizeof function);
  return !is_read_only || mprotect(pages, page, PROT_READ) == 0;
}

bool is_slot(const ElfW(Rela) & relocation) {
  for (const std::uint32_t type : kSlotTypes) {
    if (ELF64_R_TYPE(relocation.r_info) == type) return relocation.r_addend == 0;
  }
  return false;
}

}  // namespace

void lead_imports(const LoadedObject& object, const SymbolTable& symbols) {
  const bool may_import = symbols.names().find("nvrtcGetCUBIN") != std::string_view::npos ||
                          symbols.names().find("nvJitLink") != std::string_view::npos;
  if (!may_import) return;
  const ImportTables tables = import_tables(object);
  if (tables.symbols == nullptr || tables.names == nullptr) return;
  void* const handle =
      dlopen(object.is_program ? nullptr : object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return;
  for (const Bytes& table : tables.relocations) {
    const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(table.begin);
    for (std::size_t k = 0; k < table.size / sizeof *relocations; ++k) {
      const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocations[k].r_info)];
      if (!is_slot(relocations[k]) || symbol.st_shndx != SHN_UNDEF) continue;
      const void* const own = find_own(handle, tables.names + symbol.st_name);
      if (own == nullptr) continue;
      const std::uintptr_t slot = object.base + relocations[k].r_offset;
      fill(slot, own, tables.read_only.holds(slot));
    }
  }
  dlclose(handle);
}

}  // namespace baton::preload
