#include "runtime/exception_result.h"

#include <new>

#include "baton/error.h"

namespace baton {

CUresult result_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& failure) {
    const auto result = static_cast<CUresult>(failure.driver_result());
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace baton
