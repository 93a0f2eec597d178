#include "runtime/release.h"

#include <fmt/core.h>

#include "base/log.h"

namespace baton {

bool is_sticky(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

std::string not_launched(std::string_view kernel) {
  return fmt::format("the failure is of work enqueued before; kernel {} was not launched", kernel);
}

void released(const driver::Driver& driver, CUresult result, const char* call) noexcept {
  // No release is unsupported of its own: a kernel with an instruction that its device lacks leaves
  // this error behind.
  if (!is_sticky(result) && result != CUDA_ERROR_NOT_SUPPORTED) {
    driver::check_quietly(driver, result, call);
    return;
  }
  try {
    log(LogLevel::kDebug, "{} after a kernel failed: {}", call, driver::describe(driver, result));
  } catch (...) {
    // Nothing is left to tell it to.
  }
}

}  // namespace baton
