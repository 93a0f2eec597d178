// Libraries, kernels and functions.

#include <algorithm>

#include "base/log.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/jit_log.h"
#include "sim/device/kernel_attributes.h"
#include "sim/device/objects.h"
#include "sim/device/occupancy.h"
#include "sim/device/settings.h"

namespace baton::sim::api {
namespace {

// Gives the library and its kernels their handles.
CUlibrary publish(std::shared_ptr<SimLibrary> library) {
  auto loaded = std::make_shared<LoadedLibrary>();
  for (std::shared_ptr<SimKernel>& kernel : library->kernels()) {
    const std::string& name = kernel->name();
    loaded->kernels.push_back(Objects::instance().kernels.add(kernel));
    loaded->by_name.emplace(name, loaded->kernels.back());
  }
  loaded->library = std::move(library);
  return Objects::instance().libraries.add(std::move(loaded));
}

std::shared_ptr<LoadedLibrary> library_of(CUlibrary handle) {
  enter();
  std::shared_ptr<LoadedLibrary> loaded = Objects::instance().libraries.find(handle);
  require(loaded != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return loaded;
}

std::shared_ptr<SimKernel> kernel_of(CUkernel handle) {
  enter();
  std::shared_ptr<SimKernel> kernel = Objects::instance().kernels.find(handle);
  require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return kernel;
}

std::shared_ptr<SimFunction> function_of(CUfunction handle) {
  enter();
  std::shared_ptr<SimFunction> function = Objects::instance().functions.find(handle);
  if (function == nullptr) throw Refusal(unknown_handle());
  return function;
}

// A kernel on a device, whether or not that has a context.
KernelView view_of(const SimKernel& kernel, const SimDevice& device,
                   const KernelSettings& settings) {
  const Profile& profile = device.profile();
  const SimLibrary& library = kernel.library();
  return {profile, library.facts(kernel, profile.chip()), *library.on(profile.chip()).ptx,
          settings};
}

KernelView view_of(const SimFunction& function, const KernelSettings& settings) {
  return {function.context()->profile(), function.loaded(), function.module()->ptx(), settings};
}

}  // namespace

CUresult LibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                         void** option_values, unsigned option_count,
                         CUlibraryOption* library_options, void** library_option_values,
                         unsigned library_option_count) {
  enter();
  require(library != nullptr && code != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(
      library_option_count == 0 || (library_options != nullptr && library_option_values != nullptr),
      CUDA_ERROR_INVALID_VALUE);
  const JitLog jit_log(options, option_values, option_count);
  jit_log.write_info("");
  // Without a context the image is for any device; the one that places it may still refuse it.
  const SimDevice* const current = ContextStack::of_thread().top();
  try {
    *library =
        publish(SimLibrary::load(code, current == nullptr ? nullptr : &current->profile().chip()));
    jit_log.write_error("");
    return CUDA_SUCCESS;
  } catch (const ImageRefusal& refusal) {
    jit_log.write_error(refusal.why.what());
    if (settings().image_refused != nullptr) settings().image_refused(refusal.why.what());
    if (!jit_log.has_error_buffer()) {
      log(LogLevel::kWarning, "an image does not load on the simulated GPU: {}",
          refusal.why.what());
    }
    return refusal.result;
  }
}

// Waits for the devices that use the library.
CUresult LibraryUnload(CUlibrary handle) {
  enter();
  const std::shared_ptr<LoadedLibrary> loaded = Objects::instance().libraries.remove(handle);
  require(loaded != nullptr, CUDA_ERROR_INVALID_HANDLE);
  for (SimDevice* const device : SimDevice::all()) {
    if (const std::shared_ptr<Context> context = device->context()) {
      context->unload(*loaded->library);
    }
  }
  for (CUkernel kernel : loaded->kernels) Objects::instance().kernels.remove(kernel);
  Objects::instance().functions.remove_if([&](const SimFunction& function) {
    return &function.kernel()->library() == loaded->library.get();
  });
  return CUDA_SUCCESS;
}

CUresult LibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const std::shared_ptr<LoadedLibrary> loaded = library_of(library);
  require(kernel != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto found = loaded->by_name.find(name);
  require(found != loaded->by_name.end(), CUDA_ERROR_NOT_FOUND);
  *kernel = found->second;
  return CUDA_SUCCESS;
}

CUresult LibraryGetKernelCount(unsigned* count, CUlibrary library) {
  const std::shared_ptr<LoadedLibrary> loaded = library_of(library);
  require(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  *count = static_cast<unsigned>(loaded->kernels.size());
  return CUDA_SUCCESS;
}

CUresult LibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  const std::shared_ptr<LoadedLibrary> loaded = library_of(library);
  require(kernels != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::copy_n(loaded->kernels.begin(), std::min<std::size_t>(count, loaded->kernels.size()),
              kernels);
  return CUDA_SUCCESS;
}

CUresult LibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                          const char* name) {
  const std::shared_ptr<Context> context = usable_context();
  const std::shared_ptr<LoadedLibrary> loaded = library_of(library);
  require(name != nullptr && (address != nullptr || bytes != nullptr), CUDA_ERROR_INVALID_VALUE);
  std::uint64_t found_address = 0;
  std::uint64_t found_bytes = 0;
  require(context->place(*loaded->library)->global(name, &found_address, &found_bytes),
          CUDA_ERROR_NOT_FOUND);
  if (address != nullptr) *address = found_address;
  if (bytes != nullptr) *bytes = found_bytes;
  return CUDA_SUCCESS;
}

CUresult KernelGetFunction(CUfunction* function, CUkernel kernel) {
  const std::shared_ptr<Context> context = usable_context();
  require(function != nullptr, CUDA_ERROR_INVALID_VALUE);
  *function = context->function(kernel_of(kernel))->handle();
  return CUDA_SUCCESS;
}

CUresult KernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle,
                            CUdevice device) {
  const std::shared_ptr<SimKernel> kernel = kernel_of(handle);
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  const SimDevice& on = device_of(device);
  const KernelSettings settings = kernel->settings(on.ordinal());
  *value = get_attribute(view_of(*kernel, on, settings), attribute);
  return CUDA_SUCCESS;
}

CUresult KernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                            CUdevice device) {
  const std::shared_ptr<SimKernel> kernel = kernel_of(handle);
  const SimDevice& on = device_of(device);
  kernel->change(on.ordinal(), [&](const KernelSettings& settings) {
    return set_attribute(view_of(*kernel, on, settings), attribute, value);
  });
  return CUDA_SUCCESS;
}

CUresult KernelGetName(const char** name, CUkernel handle) {
  require(name != nullptr && handle != nullptr, CUDA_ERROR_INVALID_VALUE);
  *name = kernel_of(handle)->name().c_str();
  return CUDA_SUCCESS;
}

CUresult KernelGetParamInfo(CUkernel handle, size_t index, size_t* offset, size_t* size) {
  const chip::Chip& chip = usable_context()->profile().chip();
  const std::shared_ptr<SimKernel> kernel = kernel_of(handle);
  const LoadedKernel& facts = kernel->library().facts(*kernel, chip);
  require(offset != nullptr && index < facts.params.size(), CUDA_ERROR_INVALID_VALUE);
  *offset = facts.params[index].offset;
  if (size != nullptr) *size = facts.params[index].size;
  return CUDA_SUCCESS;
}

CUresult FuncGetName(const char** name, CUfunction handle) {
  const std::shared_ptr<SimFunction> function = function_of(handle);
  require(name != nullptr, CUDA_ERROR_INVALID_VALUE);
  *name = function->kernel()->name().c_str();
  return CUDA_SUCCESS;
}

CUresult FuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  const LoadedKernel& facts = function_of(handle)->loaded();
  require(offset != nullptr && index < facts.params.size(), CUDA_ERROR_INVALID_VALUE);
  *offset = facts.params[index].offset;
  if (size != nullptr) *size = facts.params[index].size;
  return CUDA_SUCCESS;
}

CUresult FuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  const std::shared_ptr<SimFunction> function = function_of(handle);
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  const KernelSettings settings = function->settings();
  *value = get_attribute(view_of(*function, settings), attribute);
  return CUDA_SUCCESS;
}

CUresult FuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  const std::shared_ptr<SimFunction> function = function_of(handle);
  function->change([&](const KernelSettings& settings) {
    return set_attribute(view_of(*function, settings), attribute, value);
  });
  return CUDA_SUCCESS;
}

CUresult OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int block_size,
                                                   size_t dynamic_shared) {
  const std::shared_ptr<Context> context = usable_context();
  require(blocks != nullptr && block_size > 0, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<SimFunction> function = place_function(*context, handle);
  const KernelSettings settings = function->settings();
  const KernelView view = view_of(*function, settings);
  *blocks = 0;
  if (dynamic_shared > static_cast<std::size_t>(max_dynamic_shared(view))) return CUDA_SUCCESS;
  *blocks = resident_blocks(view.profile, {static_cast<std::uint64_t>(block_size), registers(view),
                                           view.kernel.static_shared + dynamic_shared});
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
