#include "base/error.h"

#include <fmt/format.h>

#include "base/log.h"
#include "driver/driver.h"
#include "driver/simulator.h"

namespace baton::driver {
namespace {

ErrorCode code_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return ErrorCode::kOutOfMemory;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
      return ErrorCode::kNoDevice;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
      return ErrorCode::kFault;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return ErrorCode::kTimeout;
    case CUDA_ERROR_NOT_SUPPORTED:
      return ErrorCode::kUnsupported;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return ErrorCode::kInvalidInput;
    case CUDA_ERROR_NOT_FOUND:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kDriver;
  }
}

// The findings that explain a kernel's fault, where the driver can tell them.
void add_findings(const Driver& driver, Error& error) {
  CUcontext context = nullptr;
  if (driver.simulator == nullptr) return;
  if (driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return;
  for (const Finding& finding : driver.simulator->findings(context)) {
    if (finding.severity != Finding::Severity::kError) continue;
    error.note(finding.where.empty() ? finding.message
                                     : fmt::format("{}: {}", finding.where, finding.message));
  }
}

}  // namespace

std::string describe(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown";
  if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no text";
  return fmt::format("{} ({}): {}", name, static_cast<int>(result), text);
}

void check(const Driver& driver, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  Error failure = error(code_of(result), "{} failed with {}", call, describe(driver, result));
  if (failure.code() == ErrorCode::kFault || failure.code() == ErrorCode::kUnsupported ||
      failure.code() == ErrorCode::kTimeout) {
    add_findings(driver, failure);
  }
  throw failure;
}

void check_quietly(const Driver& driver, CUresult result, const char* call) noexcept {
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED) return;
  try {
    log(LogLevel::kWarning, "{} failed with {}", call, describe(driver, result));
  } catch (...) {
    // Nothing is left to tell it to.
  }
}

}  // namespace baton::driver
