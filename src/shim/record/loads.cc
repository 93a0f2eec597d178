// Hooks of the functions that load images and give kernels of them.

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file/file.h"
#include "image/container/elf.h"
#include "image/container/fatbin.h"
#include "image/container/joined_image.h"
#include "shim/record/functions.h"
#include "shim/record/journal.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

// The function in place of which each hook stands.
decltype(&::cuModuleLoad) g_module_load = nullptr;
decltype(&::cuModuleLoadData) g_module_load_data = nullptr;
decltype(&::cuModuleLoadDataEx) g_module_load_data_ex = nullptr;
decltype(&::cuModuleLoadFatBinary) g_module_load_fat_binary = nullptr;
decltype(&::cuLibraryLoadData) g_library_load_data = nullptr;
decltype(&::cuLibraryLoadFromFile) g_library_load_file = nullptr;
decltype(&::cuModuleGetFunction) g_module_get_function = nullptr;
decltype(&::cuLibraryGetKernel) g_library_get_kernel = nullptr;
decltype(&::cuKernelGetFunction) g_kernel_get_function = nullptr;
decltype(&::cuModuleGetGlobal) g_module_get_global = nullptr;
decltype(&::cuLibraryGetGlobal) g_library_get_global = nullptr;

// The word that an image begins with. A text may be shorter, and then ends in a NUL.
std::uint32_t magic_of(const void* code) {
  std::uint32_t magic = 0;
  const auto* const text = static_cast<const char*>(code);
  for (std::size_t k = 0; k < sizeof magic && text[k] != '\0'; ++k) {
    std::memcpy(reinterpret_cast<char*>(&magic) + k, text + k, 1);
  }
  return magic;
}

std::string_view image_at(const void* code) {
  const std::uint32_t magic = magic_of(code);
  const auto* const text = static_cast<const char*>(code);
  if (magic == image::kFatbinMagic) return {text, image::Fatbin::size_of(code)};
  if (std::memcmp(&magic,
                  "\x7f"
                  "ELF",
                  sizeof magic) == 0) {
    return {text, image::ElfFile::size_of(code)};
  }
  return {text, std::strlen(text)};
}

void note_image(std::string_view bytes, const void* module, std::string_view name) {
  const record::ImageNote image = save_image(bytes, reinterpret_cast<std::uintptr_t>(module));
  note(record::EventKind::kImage, 0, next_order(), 0, {{&image, sizeof image}}, name);
}

// The image that the driver took from an address alone.
void note_image_at(const void* code, const void* module) {
  if (magic_of(code) != image::FatbinWrapper::kMagic) return note_image(image_at(code), module, "");
  image::FatbinWrapper wrapper;
  std::memcpy(&wrapper, code, sizeof wrapper);
  const std::optional<std::string> joined = image::joined_image(wrapper);
  note_image(joined ? *joined : image_at(wrapper.fatbin), module, "");
}

void note_file(const char* path, const void* module) {
  try {
    note_image(read_file(path), module, path);
  } catch (const Error& unreadable) {
    remark("the image " + std::string(path) + " is not in the record: " + unreadable.message());
  }
}

CUresult module_load(CUmodule* module, const char* path) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_module_load(module, path);
  if (!is_inside && result == CUDA_SUCCESS) note_file(path, *module);
  return result;
}

CUresult module_load_data(CUmodule* module, const void* code) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_module_load_data(module, code);
  if (!is_inside && result == CUDA_SUCCESS) note_image_at(code, *module);
  return result;
}

CUresult module_load_data_ex(CUmodule* module, const void* code, unsigned count,
                             CUjit_option* options, void** values) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_module_load_data_ex(module, code, count, options, values);
  if (!is_inside && result == CUDA_SUCCESS) note_image_at(code, *module);
  return result;
}

CUresult module_load_fat_binary(CUmodule* module, const void* code) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_module_load_fat_binary(module, code);
  if (!is_inside && result == CUDA_SUCCESS) note_image_at(code, *module);
  return result;
}

CUresult library_load_data(CUlibrary* library, const void* code, CUjit_option* jit_options,
                           void** jit_values, unsigned jit_count, CUlibraryOption* options,
                           void** values, unsigned count) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_library_load_data(library, code, jit_options, jit_values, jit_count,
                                              options, values, count);
  if (!is_inside && result == CUDA_SUCCESS) note_image_at(code, *library);
  return result;
}

CUresult library_load_file(CUlibrary* library, const char* path, CUjit_option* jit_options,
                           void** jit_values, unsigned jit_count, CUlibraryOption* options,
                           void** values, unsigned count) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_library_load_file(library, path, jit_options, jit_values, jit_count,
                                              options, values, count);
  if (!is_inside && result == CUDA_SUCCESS) note_file(path, *library);
  return result;
}

CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_module_get_function(function, module, name);
  if (!is_inside && result == CUDA_SUCCESS) {
    note_function(reinterpret_cast<std::uintptr_t>(*function),
                  reinterpret_cast<std::uintptr_t>(module));
  }
  return result;
}

CUresult library_get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_library_get_kernel(kernel, library, name);
  if (!is_inside && result == CUDA_SUCCESS) {
    note_function(reinterpret_cast<std::uintptr_t>(*kernel),
                  reinterpret_cast<std::uintptr_t>(library));
  }
  return result;
}

CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_kernel_get_function(function, kernel);
  if (!is_inside && result == CUDA_SUCCESS) {
    const KnownFunction& known = known_function(reinterpret_cast<std::uintptr_t>(kernel));
    note_function(reinterpret_cast<std::uintptr_t>(*function), known.module);
  }
  return result;
}

// The caller may want only one of the two.
template <typename Function, typename Owner>
CUresult get_global(Function function, CUdeviceptr* address, std::size_t* bytes, Owner owner,
                    const char* name) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  if (is_inside || name == nullptr || (address == nullptr && bytes == nullptr)) {
    return function(address, bytes, owner, name);
  }
  CUdeviceptr found = 0;
  std::size_t size = 0;
  const CUresult result = function(&found, &size, owner, name);
  if (result != CUDA_SUCCESS) return result;
  if (address != nullptr) *address = found;
  if (bytes != nullptr) *bytes = size;
  const record::VariableNote variable = {found, size, reinterpret_cast<std::uintptr_t>(owner)};
  note(record::EventKind::kVariable, 0, next_order(), 0, {{&variable, sizeof variable}}, name);
  return result;
}

CUresult module_get_global(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name) {
  return get_global(g_module_get_global, address, bytes, module, name);
}

CUresult library_get_global(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return get_global(g_library_get_global, address, bytes, library, name);
}

template <typename Function>
void* hooked(Function& slot, void* real, Function hook) {
  slot = reinterpret_cast<Function>(real);
  return reinterpret_cast<void*>(hook);
}

}  // namespace

void* load_hook(std::string_view symbol, void* real) {
  if (symbol == "cuModuleLoad") return hooked(g_module_load, real, &module_load);
  if (symbol == "cuModuleLoadData") return hooked(g_module_load_data, real, &module_load_data);
  if (symbol == "cuModuleLoadDataEx") {
    return hooked(g_module_load_data_ex, real, &module_load_data_ex);
  }
  if (symbol == "cuModuleLoadFatBinary") {
    return hooked(g_module_load_fat_binary, real, &module_load_fat_binary);
  }
  if (symbol == "cuLibraryLoadData") return hooked(g_library_load_data, real, &library_load_data);
  if (symbol == "cuLibraryLoadFromFile") {
    return hooked(g_library_load_file, real, &library_load_file);
  }
  if (symbol == "cuModuleGetFunction") {
    return hooked(g_module_get_function, real, &module_get_function);
  }
  if (symbol == "cuLibraryGetKernel") {
    return hooked(g_library_get_kernel, real, &library_get_kernel);
  }
  if (symbol == "cuKernelGetFunction") {
    return hooked(g_kernel_get_function, real, &kernel_get_function);
  }
  if (symbol == "cuModuleGetGlobal_v2") {
    return hooked(g_module_get_global, real, &module_get_global);
  }
  if (symbol == "cuLibraryGetGlobal") {
    return hooked(g_library_get_global, real, &library_get_global);
  }
  return nullptr;
}

}  // namespace baton::recorder
