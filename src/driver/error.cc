
#include "baton/error.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

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

// What a simulator saw of the fault on the context in use.
std::optional<Finding> fault_seen(const Driver& driver) {
  CUcontext context = nullptr;
  if (driver.simulator == nullptr) return std::nullopt;
  if (driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return std::nullopt;
  return driver.simulator->fault(context);
}

// What a kernel did says more than the call that happened to report it.
Error explain(ErrorCode code, std::string reported, const std::optional<Finding>& fault) {
  if (!fault) return Error(code, std::move(reported));
  Error failure(code, describe(*fault), SourceLocation{.file = fault->where});
  failure.note(std::move(reported));
  return failure;
}

// What to do about a result whose text does not say it; null for others.
const char* advice(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NOT_INITIALIZED:
      return "the driver was initialised, so this process was forked after that: no CUDA driver "
             "works in a forked process; open the device after the fork, in the child alone";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return "a stream that is captured executes nothing, so nothing can wait for it; end the "
             "capture, launch its graph, and wait for that";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "the device was stopped, and takes no work: a time limit or an interrupt ended what "
             "was enqueued before; a recovery ends this state on the simulated GPU, and the end of "
             "the process on a GPU";
    default:
      return nullptr;
  }
}

}  // namespace

std::string describe(const Finding& finding) {
  const std::string times = finding.count == 1 ? "" : fmt::format(" ({} times)", finding.count);
  if (finding.kernel.empty()) return finding.message + times;
  return fmt::format("kernel {}, block ({}), thread ({}): {}{}",
                     finding.readable.empty() ? finding.kernel : finding.readable,
                     fmt::join(finding.block, ", "), fmt::join(finding.thread, ", "),
                     finding.message, times);
}

std::string describe(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown";
  if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no text";
  return fmt::format("{} ({}): {}", name, static_cast<int>(result), text);
}

void check(const Driver& driver, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const ErrorCode code = code_of(result);
  std::string reported = fmt::format("{} failed with {}", call, describe(driver, result));
  const bool by_kernel =
      code == ErrorCode::kFault || code == ErrorCode::kUnsupported || code == ErrorCode::kTimeout;
  Error failure = explain(code, std::move(reported), by_kernel ? fault_seen(driver) : std::nullopt);
  if (const char* const what = advice(result)) failure.note(what);
  failure.of_driver(result);
  throw failure;
}

void check_quietly(const Driver& driver, CUresult result, const char* call) noexcept {
  const bool is_gone = result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED;
  if (result == CUDA_SUCCESS || is_gone) return;
  try {
    log(LogLevel::kWarning, "{} failed with {}", call, describe(driver, result));
  } catch (...) {
    // Nothing is left to tell it to.
  }
}

}  // namespace baton::driver
