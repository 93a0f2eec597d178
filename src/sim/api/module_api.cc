// Modules, and what libraries, kernels and functions tell of each other. A module is a library
// under another name: the two handles are one.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/file/file.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

CUlibrary library_handle(CUmodule module) {
  return reinterpret_cast<CUlibrary>(module);
}

std::shared_ptr<LoadedLibrary> loaded_module(CUmodule module) {
  enter();
  std::shared_ptr<LoadedLibrary> loaded =
      Objects::instance().libraries.find(library_handle(module));
  require(loaded != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return loaded;
}

// The handle of the library that a kernel is of.
CUlibrary library_of(const SimLibrary& library) {
  CUlibrary found = nullptr;
  Objects::instance().libraries.each([&](CUlibrary handle, const LoadedLibrary& loaded) {
    if (loaded.library.get() == &library) found = handle;
  });
  require(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return found;
}

// A function of the current context, or a kernel, which serves as one.
std::shared_ptr<SimFunction> placed(CUfunction handle) {
  return place_function(*usable_context(), handle);
}

// The driver's error for a file that cannot be read.
std::string image_file(const char* path) {
  require(path != nullptr, CUDA_ERROR_INVALID_VALUE);
  try {
    return read_file(path);
  } catch (const Error&) {
    throw Refusal(CUDA_ERROR_FILE_NOT_FOUND);
  }
}

CUresult load_module(CUmodule* module, const void* image, CUjit_option* options, void** values,
                     unsigned count) {
  const std::shared_ptr<Context> context = usable_context();
  require(module != nullptr && image != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUlibrary library = nullptr;
  const CUresult result =
      LibraryLoadData(&library, image, options, values, count, nullptr, nullptr, 0);
  if (result != CUDA_SUCCESS) return result;
  context->place(*Objects::instance().libraries.find(library)->library);
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult ModuleLoad(CUmodule* module, const char* path) {
  const std::string image = image_file(path);
  return load_module(module, image.c_str(), nullptr, nullptr, 0);
}

CUresult ModuleLoadData(CUmodule* module, const void* image) {
  return load_module(module, image, nullptr, nullptr, 0);
}

CUresult ModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                          CUjit_option* options, void** values) {
  return load_module(module, image, options, values, count);
}

CUresult ModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_module(module, image, nullptr, nullptr, 0);
}

CUresult ModuleUnload(CUmodule module) {
  return LibraryUnload(library_handle(module));
}

CUresult ModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const std::shared_ptr<LoadedLibrary> loaded = loaded_module(module);
  require(function != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto found = loaded->by_name.find(name);
  require(found != loaded->by_name.end(), CUDA_ERROR_NOT_FOUND);
  return KernelGetFunction(function, found->second);
}

CUresult ModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return LibraryGetGlobal(address, bytes, library_handle(module), name);
}

CUresult ModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return LibraryGetKernelCount(count, library_handle(module));
}

CUresult ModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  const std::shared_ptr<LoadedLibrary> loaded = loaded_module(module);
  require(functions != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::size_t given = std::min<std::size_t>(count, loaded->kernels.size());
  for (std::size_t k = 0; k < given; ++k) KernelGetFunction(&functions[k], loaded->kernels[k]);
  return CUDA_SUCCESS;
}

// As a driver reads the variable. Bodies are decoded at their first launch, whatever it says.
CUresult ModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  require(mode != nullptr, CUDA_ERROR_INVALID_VALUE);
  const char* const chosen = std::getenv("CUDA_MODULE_LOADING");
  const bool is_eager = chosen != nullptr && std::string_view(chosen) == "EAGER";
  *mode = is_eager ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult LibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                             void** values, unsigned count, CUlibraryOption* library_options,
                             void** library_values, unsigned library_count) {
  enter();
  const std::string image = image_file(path);
  return LibraryLoadData(library, image.c_str(), options, values, count, library_options,
                         library_values, library_count);
}

CUresult LibraryGetModule(CUmodule* module, CUlibrary library) {
  usable_context();
  require(module != nullptr, CUDA_ERROR_INVALID_VALUE);
  *module = reinterpret_cast<CUmodule>(library);
  loaded_module(*module);
  return CUDA_SUCCESS;
}

CUresult LibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                           const char* name) {
  CUdeviceptr found = 0;
  const CUresult result = LibraryGetGlobal(&found, bytes, library, name);
  if (result != CUDA_SUCCESS) return result;
  const auto host = HostMemory::instance().find(found);
  require(host && host->kind == HostMemory::Kind::kVariable, CUDA_ERROR_NOT_FOUND);
  if (address != nullptr) *address = found;
  return CUDA_SUCCESS;
}

CUresult KernelGetLibrary(CUlibrary* library, CUkernel handle) {
  enter();
  const std::shared_ptr<SimKernel> kernel = Objects::instance().kernels.find(handle);
  require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
  require(library != nullptr, CUDA_ERROR_INVALID_VALUE);
  *library = library_of(kernel->library());
  return CUDA_SUCCESS;
}

// How the driver splits a multiprocessor's memory between cache and shared memory has no effect
// here.
CUresult KernelSetCacheConfig(CUkernel handle, CUfunc_cache, CUdevice device) {
  enter();
  require(Objects::instance().kernels.find(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE);
  device_of(device);
  return CUDA_SUCCESS;
}

CUresult FuncGetModule(CUmodule* module, CUfunction handle) {
  require(module != nullptr, CUDA_ERROR_INVALID_VALUE);
  *module = reinterpret_cast<CUmodule>(library_of(placed(handle)->kernel()->library()));
  return CUDA_SUCCESS;
}

CUresult FuncLoad(CUfunction handle) {
  placed(handle);
  return CUDA_SUCCESS;
}

CUresult FuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  require(state != nullptr, CUDA_ERROR_INVALID_VALUE);
  placed(handle);
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

CUresult FuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  placed(handle);
  return CUDA_SUCCESS;
}

CUresult FuncSetSharedMemConfig(CUfunction handle, CUsharedconfig) {
  placed(handle);
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
