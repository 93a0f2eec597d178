#pragma once

#include <fmt/core.h>

#include <utility>

#include "baton/error.h"

namespace baton {

// Builds an Error from a format string: throw error(ErrorCode::kLimit, "…{}…", value);
template <typename... Args>
Error error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// The same with a place in the user's text.
template <typename... Args>
Error error_at(SourceLocation where, ErrorCode code, fmt::format_string<Args...> format,
               Args&&... args) {
  return Error(code, fmt::format(format, std::forward<Args>(args)...), std::move(where));
}

}  // namespace baton
