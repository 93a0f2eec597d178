#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {
namespace {

// The exceptions of Python that fit. tvm-ffi knows eight kinds; another one becomes RuntimeError.
const char* kind_of(std::int32_t code) {
  switch (code) {
    case BATON_ERROR_INVALID_INPUT:
    case BATON_ERROR_LIMIT:
    case BATON_ERROR_DAMAGED:
      return "ValueError";
    case BATON_ERROR_OUT_OF_MEMORY:
      return "MemoryError";
    default:
      return "RuntimeError";
  }
}

}  // namespace

void check(baton_error* error) {
  if (error == nullptr) [[likely]]
    return;
  const std::int32_t code = baton_error_code(error);
  Failure failure{kind_of(code), baton_error_text(error), baton_error_file(error),
                  baton_error_line(error), code};
  baton_error_release(error);
  throw failure;
}

}  // namespace baton::tvm_ffi
