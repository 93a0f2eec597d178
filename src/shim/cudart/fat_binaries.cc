#include "shim/cudart/fat_binaries.h"

namespace baton::cudart {

FatBinaries& FatBinaries::instance() {
  static auto& instance = *new FatBinaries;
  return instance;
}

FatBinaries::Image* FatBinaries::image_of(void** handle) {
  return static_cast<Image*>(*handle);
}

void** FatBinaries::add(const void* bytes) {
  const std::lock_guard lock(mutex_);
  Image& image = images_.emplace_back();
  image.bytes = bytes;
  image.handle = &image;
  return &image.handle;
}

// The library stays loaded: work of it may be under way. Its addresses may become others'.
void FatBinaries::remove(void** handle) {
  const std::lock_guard lock(mutex_);
  Image* const image = image_of(handle);
  const auto is_of_image = [image](const auto& entry) { return entry.second.image == image; };
  std::erase_if(kernels_, is_of_image);
  std::erase_if(variables_, is_of_image);
  std::erase_if(managed_, [image](const Managed& each) { return each.image == image; });
}

void FatBinaries::add_kernel(void** handle, const void* host, const char* name) {
  const std::lock_guard lock(mutex_);
  kernels_[host] = {image_of(handle), name, 0, nullptr};
}

void FatBinaries::add_variable(void** handle, const void* host, const char* name,
                               std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  variables_[host] = {image_of(handle), name, bytes, nullptr};
}

void FatBinaries::add_managed(void** handle, void** host, const char* name, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  managed_.push_back({image_of(handle), host, name, bytes});
}

cudaError_t FatBinaries::place_managed(void** handle) {
  const std::lock_guard lock(mutex_);
  Image* const image = image_of(handle);
  for (const Managed& managed : managed_) {
    if (managed.image != image) continue;
    if (const CUresult result = load(*image); result != CUDA_SUCCESS) {
      return static_cast<cudaError_t>(result);
    }
    CUdeviceptr address = 0;
    const CUresult result =
        cuLibraryGetManaged(&address, nullptr, image->library, managed.name.c_str());
    if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
    *managed.host = reinterpret_cast<void*>(address);
    variables_[*managed.host] = {image, managed.name, managed.bytes, nullptr};
  }
  return cudaSuccess;
}

CUresult FatBinaries::load(Image& image) {
  if (!image.is_loaded) {
    image.result =
        cuLibraryLoadData(&image.library, image.bytes, nullptr, nullptr, 0, nullptr, nullptr, 0);
    image.is_loaded = true;
  }
  return image.result;
}

cudaError_t FatBinaries::kernel(const void* host, CUkernel* kernel) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(host);
  if (found == kernels_.end()) {
    const char* name = nullptr;
    *kernel = reinterpret_cast<CUkernel>(const_cast<void*>(host));
    if (host != nullptr && cuKernelGetName(&name, *kernel) == CUDA_SUCCESS) return cudaSuccess;
    *kernel = nullptr;
    return cudaErrorInvalidDeviceFunction;
  }
  Named& named = found->second;
  if (named.kernel == nullptr) {
    if (const CUresult result = load(*named.image); result != CUDA_SUCCESS) {
      return static_cast<cudaError_t>(result);
    }
    if (cuLibraryGetKernel(&named.kernel, named.image->library, named.name.c_str()) !=
        CUDA_SUCCESS) {
      return cudaErrorInvalidDeviceFunction;
    }
  }
  *kernel = named.kernel;
  return cudaSuccess;
}

const void* FatBinaries::host_of(CUkernel kernel) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, named] : kernels_) {
    if (named.kernel == kernel) return host;
  }
  return kernel;
}

const void* FatBinaries::host_of(CUfunction function) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, named] : kernels_) {
    CUfunction placed = nullptr;
    if (named.kernel != nullptr && cuKernelGetFunction(&placed, named.kernel) == CUDA_SUCCESS &&
        placed == function) {
      return host;
    }
  }
  return function;
}

cudaError_t FatBinaries::variable(const void* host, CUdeviceptr* address, std::size_t* bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host);
  if (found == variables_.end()) return cudaErrorInvalidSymbol;
  const Named& named = found->second;
  if (const CUresult result = load(*named.image); result != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(result);
  }
  if (cuLibraryGetGlobal(address, bytes, named.image->library, named.name.c_str()) !=
      CUDA_SUCCESS) {
    return cudaErrorInvalidSymbol;
  }
  return cudaSuccess;
}

}  // namespace baton::cudart
