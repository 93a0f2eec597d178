#include "shim/preload/refused_handles.h"

#include "shim/preload/detour.h"

namespace baton::preload {
namespace {

constexpr int kNotInitialized = 1;  // CUBLAS_STATUS_NOT_INITIALIZED

int fail_to_create() {
  return kNotInitialized;
}

}  // namespace

void refuse_handles(const SymbolTable& object, std::uintptr_t base) {
  object.functions([&](std::string_view name, const Elf64_Sym& symbol) {
    if (name != "cublasLtCreate" || symbol.st_size < kJumpBytes) return;
    redirect(reinterpret_cast<void*>(base + symbol.st_value),
             reinterpret_cast<const void*>(&fail_to_create));
  });
}

}  // namespace baton::preload
