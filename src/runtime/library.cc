#include "runtime/library.h"

#include <vector>

#include "base/error.h"
#include "base/text/text.h"
#include "driver/capture_mode.h"
#include "runtime/context.h"
#include "runtime/jit_log.h"
#include "runtime/release.h"

namespace baton {
namespace {

bool image_does_not_suit(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::unique_ptr<DriverLibrary> DriverLibrary::load(const Device& device, const Image& image,
                                                   std::string* why) {
  ContextGuard guard(device);
  std::unique_ptr<DriverLibrary> library(new DriverLibrary(device));
  // Machine code needs no compiler. Where it is refused all the same, the driver may say why. The
  // simulated one warns of images that it refuses without a log.
  const bool is_simulated = device.driver().simulator != nullptr;
  Opened opened = library->open(image, is_simulated || image.kind() != ImageKind::kCubin);
  if (image_does_not_suit(opened.result) && library->log_ == nullptr) {
    library.reset(new DriverLibrary(device));
    opened = library->open(image, true);
  }
  if (opened.result == CUDA_SUCCESS) return library;
  if (!image_does_not_suit(opened.result)) {
    driver::check(device.driver(), opened.result, opened.call);
  }
  *why = driver::describe(device.driver(), opened.result);
  if (const std::string log = library->log(); !log.empty()) {
    *why += '\n';
    *why += with_image_name(log, image.name());
  }
  return nullptr;
}

std::unique_ptr<DriverLibrary> DriverLibrary::adopt(const Device& device, CUlibrary handle) {
  std::unique_ptr<DriverLibrary> library(new DriverLibrary(device));
  library->handle_ = handle;
  library->owned_ = false;
  return library;
}

DriverLibrary::Opened DriverLibrary::open(const Image& image, bool with_log) {
  image_ = image;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[std::size(options)] = {};
  if (with_log) {
    log_ = std::make_unique<Log>();
    // Sizes are passed in the pointer itself.
    values[0] = log_->errors.data();
    values[1] = reinterpret_cast<void*>(log_->errors.size() - 1);
    values[2] = log_->remarks.data();
    values[3] = reinterpret_cast<void*>(log_->remarks.size() - 1);
  }
  // Otherwise the driver would make a copy of its own.
  CUlibraryOption preserved[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
  void* yes[] = {reinterpret_cast<void*>(1)};
  // PTX must end in a NUL, which Image promises; binary images carry their own size.
  const CUresult result = device_.driver().cuLibraryLoadData(
      &handle_, image_->bytes().data(), options, values, with_log ? std::size(options) : 0,
      preserved, yes, std::size(preserved));
  if (result != CUDA_SUCCESS) return {result, "cuLibraryLoadData"};
  return {force(), "cuLibraryGetKernel"};
}

CUresult DriverLibrary::force() const {
  // Any look-up loads the image, also one of a name that no kernel has: until then a CUDA driver
  // that loads lazily takes whatever it is given.
  CUkernel kernel = nullptr;
  const CUresult result = device_.driver().cuLibraryGetKernel(&kernel, handle_, "baton.no.kernel");
  return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
}

DriverLibrary::~DriverLibrary() {
  if (handle_ == nullptr || !owned_) return;
  release_after_work(device_, [this](const driver::Driver& driver) {
    const driver::RelaxedCapture relaxed(driver);
    BATON_RELEASE(driver, cuLibraryUnload, handle_);
  });
}

std::string DriverLibrary::log() const {
  std::string text;
  if (log_ == nullptr) return text;
  for (const auto* buffer : {&log_->errors, &log_->remarks}) {
    const std::string_view part = trim(buffer->data());
    if (part.empty()) continue;
    if (!text.empty()) text += "\n";
    text += part;
  }
  return text;
}

std::vector<std::string> DriverLibrary::kernel_names() const {
  ContextGuard guard(device_);
  const driver::Driver& driver = device_.driver();
  unsigned count = 0;
  BATON_DRIVER_CALL(driver, cuLibraryGetKernelCount, &count, handle_);
  std::vector<CUkernel> kernels(count);
  if (count != 0) {
    BATON_DRIVER_CALL(driver, cuLibraryEnumerateKernels, kernels.data(), count, handle_);
  }
  std::vector<std::string> names;
  for (CUkernel kernel : kernels) {
    const char* name = nullptr;
    BATON_DRIVER_CALL(driver, cuKernelGetName, &name, kernel);
    names.emplace_back(name);
  }
  return names;
}

CUkernel DriverLibrary::kernel(const std::string& symbol) const {
  ContextGuard guard(device_);
  CUkernel kernel = nullptr;
  BATON_DRIVER_CALL(device_.driver(), cuLibraryGetKernel, &kernel, handle_, symbol.c_str());
  return kernel;
}

}  // namespace baton
