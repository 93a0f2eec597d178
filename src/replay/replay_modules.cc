#include "replay/replay_modules.h"

#include "base/error.h"
#include "driver/driver.h"
#include "pdl/code/code.h"
#include "pdl/origin/memory_dependence.h"
#include "record/call_meaning.h"

namespace baton::replay {
namespace {

bool follows_contents(const record::KernelOfRecord& kernel) {
  if (kernel.ptx == nullptr) return true;
  try {
    return overlap::depends_on_contents(overlap::read_code(kernel.ptx, *kernel.function));
  } catch (const Error&) {
    return true;  // an image that cannot be read may access anything
  }
}

std::vector<record::ParamNote> params_of(const driver::Driver& driver, CUkernel kernel) {
  std::vector<record::ParamNote> params;
  std::size_t offset = 0, size = 0;
  while (driver.cuKernelGetParamInfo(kernel, params.size(), &offset, &size) == CUDA_SUCCESS) {
    params.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
  }
  return params;
}

}  // namespace

void ReplayModules::follow(const record::RecordedEvent& event) {
  kernels_.follow(event);
}

void ReplayModules::unload(std::uint64_t module) {
  std::erase_if(replayed_, [&](const auto& each) { return each.first->module == module; });
  std::erase_if(libraries_, [&](const auto& each) { return each.first.first == module; });
}

const ReplayModules::Loaded& ReplayModules::library(const Key& key) {
  const auto [at, is_new] = libraries_.try_emplace(key);
  Loaded& loaded = at->second;
  if (!is_new) return loaded;
  try {
    const std::optional<std::string> bytes = images_(key.second);
    if (!bytes) {
      loaded.refusal = "its image is not in the record";
      return loaded;
    }
    loaded.library = DriverLibrary::load(
        device_, Image::from_bytes(*bytes, "an image of the record"), &loaded.refusal);
  } catch (const Error& failure) {
    loaded.refusal = failure.message();
  }
  return loaded;
}

ReplayedKernel& ReplayModules::kernel(std::uint64_t function) {
  const record::KernelOfRecord& recorded = kernels_.kernel(function);
  const auto [at, is_new] = replayed_.try_emplace(&recorded);
  ReplayedKernel& kernel = at->second;
  if (!is_new) return kernel;
  kernel.recorded = &recorded;
  if (!recorded.image) {
    kernel.refusal = "its image is not in the record";
    return kernel;
  }
  const Loaded& loaded = library({recorded.module, *recorded.image});
  if (loaded.library == nullptr) {
    kernel.refusal = loaded.refusal;
    return kernel;
  }
  const driver::Driver& driver = device_.driver();
  const CUresult found =
      driver.cuLibraryGetKernel(&kernel.handle, loaded.library->handle(), recorded.name.c_str());
  if (found != CUDA_SUCCESS) {
    kernel.handle = nullptr;
    kernel.refusal = driver::describe(driver, found);
    return kernel;
  }
  kernel.params = params_of(driver, kernel.handle);
  kernel.follows_contents = follows_contents(recorded);
  return kernel;
}

std::optional<std::pair<CUdeviceptr, std::size_t>> ReplayModules::variable(
    std::uint64_t module, const std::string& name) {
  const std::optional<Digest> image = kernels_.image(module);
  if (!image) return std::nullopt;
  const Loaded& loaded = library({kernels_.owner(module), *image});
  if (loaded.library == nullptr) return std::nullopt;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  if (device_.driver().cuLibraryGetGlobal(&address, &bytes, loaded.library->handle(),
                                          name.c_str()) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return std::pair(address, bytes);
}

}  // namespace baton::replay
