#pragma once

#include <link.h>

#include <string>

#include "shim/preload/symbol_table.h"

namespace baton::preload {

// An object of the process.
struct LoadedObject {
  std::string path;
  std::uintptr_t base = 0;
  const ElfW(Phdr) * headers = nullptr;
  std::size_t header_count = 0;
  bool is_program = false;
};

// Leads what the object imports of NVRTC and nvJitLink to the functions that keep PTX inside of
// cubins, as dlsym does (own_functions.h). Objects that are linked with these libraries never ask
// dlsym.
void lead_imports(const LoadedObject& object, const SymbolTable& symbols);

}  // namespace baton::preload
