#include "shim/preload/static_runtime.h"

#include <dlfcn.h>

#include <set>
#include <string>

#include "shim/preload/detour.h"
#include "shim/preload/wrapped_runtime.h"

namespace baton::preload {
namespace {

// NVIDIA's archive names its own functions so.
constexpr std::string_view kPrivateName = "libcudart_static_";
// What only CUDA 12 and earlier have.
constexpr std::string_view kOldName = "cudaGetDeviceProperties_v2";
// The runtime as a library.
constexpr std::string_view kLibrary = "libcudart.so.";
constexpr std::string_view kVersion = "13";
// What nvcc makes to register an object's kernels.
constexpr std::string_view kRegister = "__sti____cudaRegisterAll";

bool is_public(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("__cuda");
}

}  // namespace

StaticRuntime find_runtime(const SymbolTable& object, std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with(kLibrary)) {
    return file.substr(kLibrary.size()).starts_with(kVersion) ? StaticRuntime::kNamed
                                                              : StaticRuntime::kOld;
  }
  if (object.names().find(kPrivateName) == std::string_view::npos) {
    return has_wrappers(object) ? StaticRuntime::kWrapped : StaticRuntime::kNone;
  }
  bool is_old = false;
  object.functions([&](std::string_view name, const Elf64_Sym&) {
    if (name == kOldName) is_old = true;
  });
  return is_old ? StaticRuntime::kOld : StaticRuntime::kNamed;
}

bool take_over(const SymbolTable& object, std::uintptr_t base, void* own) {
  std::set<Elf64_Addr> starts;
  object.functions(
      [&](std::string_view, const Elf64_Sym& symbol) { starts.insert(symbol.st_value); });
  // A function shorter than a jump has padding after it.
  const auto has_room = [&](const Elf64_Sym& symbol) {
    const auto next = starts.upper_bound(symbol.st_value);
    return symbol.st_size >= kJumpBytes ||
           (next != starts.end() && *next - symbol.st_value >= kJumpBytes);
  };
  bool is_whole = true;
  object.functions([&](std::string_view name, const Elf64_Sym& symbol) {
    if (!is_public(name)) return;
    void* const target = dlsym(own, std::string(name).c_str());
    if (target == nullptr) return;
    auto* const function = reinterpret_cast<void*>(base + symbol.st_value);
    if (!has_room(symbol) || !redirect(function, target)) is_whole = false;
  });
  return is_whole;
}

void register_again(const SymbolTable& object, std::uintptr_t base) {
  object.functions([&](std::string_view name, const Elf64_Sym& symbol) {
    if (name.find(kRegister) == std::string_view::npos) return;
    reinterpret_cast<void (*)()>(base + symbol.st_value)();
  });
}

}  // namespace baton::preload
