#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "baton.h"

namespace baton::tvm_ffi {

// An error on its way to the caller of a tvm-ffi function. It never leaves the adapter: `raise`
// turns it into an error object.
struct Failure {
  const char* kind;     // the name of a Python exception that tvm-ffi knows: "TypeError"
  std::string message;  // what is wrong, both values, and what to do
  std::string file = {};
  std::int32_t line = 0;
  std::int32_t code = BATON_ERROR_INVALID_INPUT;
};

template <typename... Args>
[[noreturn]] void fail(const char* kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{kind, fmt::format(format, std::forward<Args>(args)...)};
}

// Throws what a function of baton.h returned, and releases it. NULL is success.
void check(baton_error* error);

}  // namespace baton::tvm_ffi
