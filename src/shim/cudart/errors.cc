// Names and texts of errors.

#include "shim/cudart/thread_state.h"

namespace {

struct ErrorText {
  cudaError_t error;
  const char* text;
};

// Of the errors that the driver does not have, those that this library gives.
constexpr ErrorText kTexts[] = {
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorMissingConfiguration, "__global__ function call is not configured"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
};

}  // namespace

cudaError_t cudaGetLastError() {
  return baton::cudart::take_last_error();
}

cudaError_t cudaPeekAtLastError() {
  return baton::cudart::last_error();
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define BATON_RUNTIME_ERROR(name, number) \
  case name:                              \
    return #name;
#include "shim/cudart/errors.inc"
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorText& row : kTexts) {
    if (row.error == error) return row.text;
  }
  const char* text = nullptr;
  const auto result = static_cast<CUresult>(error);
  if (cuGetErrorString(result, &text) == CUDA_SUCCESS && text != nullptr) return text;
  // An error without a text has its name at least.
  return cudaGetErrorName(error);
}
