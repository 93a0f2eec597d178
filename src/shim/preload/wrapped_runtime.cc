#include "shim/preload/wrapped_runtime.h"

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "shim/preload/detour.h"

namespace baton::preload {
namespace {

constexpr std::string_view kRuntimePrefix = "_cuda";
constexpr std::string_view kDriverPrefix = "_cu";
// Every library that wraps the runtime has these.
constexpr std::string_view kMarks[] = {"_cudaMalloc", "_cudaLibraryLoadData"};

// The runtime's name of what a wrapper stands for; empty where it is left alone.
std::string runtime_name(std::string_view wrapper) {
  // The structure is another one in CUDA 12, and the library does not tell its version.
  if (wrapper == "_cudaGetDeviceProperties") return {};
  // The template of that name is over a function in C.
  if (wrapper == "_cudaLaunchKernelEx") return "cudaLaunchKernelExC";
  return std::string(wrapper.substr(1));
}

#if defined(__x86_64__)
// Where a function goes that is one jump; null for any other function.
void* jump_target(const unsigned char* function) {
  constexpr unsigned char kJump = 0xe9;
  std::int32_t distance = 0;
  if (function[0] != kJump) return nullptr;
  std::memcpy(&distance, function + 1, sizeof distance);
  return const_cast<unsigned char*>(function + 1 + sizeof distance + distance);
}
// Compilers align functions so, which leaves room for a jump.
constexpr std::uintptr_t kFunctionAlignment = 16;
#else
void* jump_target(const unsigned char*) {
  return nullptr;
}
constexpr std::uintptr_t kFunctionAlignment = 4;
#endif

bool has_room(const void* function) {
  return reinterpret_cast<std::uintptr_t>(function) % kFunctionAlignment == 0 &&
         kJumpBytes <= kFunctionAlignment;
}

}  // namespace

bool has_wrappers(const SymbolTable& object) {
  std::size_t found = 0;
  object.functions([&](std::string_view name, const Elf64_Sym&) {
    for (const std::string_view mark : kMarks) found += name == mark ? 1 : 0;
  });
  return found == std::size(kMarks);
}

bool take_over_wrapped(const SymbolTable& object, std::uintptr_t base, void* runtime,
                       void* driver) {
  bool is_whole = true;
  object.functions([&](std::string_view name, const Elf64_Sym& symbol) {
    auto* const wrapper = reinterpret_cast<unsigned char*>(base + symbol.st_value);
    void* function = nullptr;
    const void* own = nullptr;
    if (name.starts_with(kRuntimePrefix)) {
      own = dlsym(runtime, runtime_name(name).c_str());
      function = jump_target(wrapper);
    } else if (name.starts_with(kDriverPrefix) && symbol.st_size >= kJumpBytes) {
      own = dlsym(driver, std::string(name.substr(1)).c_str());
      function = wrapper;
    }
    if (own == nullptr || function == nullptr) return;
    if (!has_room(function) || !redirect(function, own)) is_whole = false;
  });
  return is_whole;
}

}  // namespace baton::preload
