#pragma once

#include <fmt/core.h>

#include "baton/log.h"

namespace baton {

// True where a message of this level would be shown: ask before building a costly one.
bool log_enabled(LogLevel level) noexcept;
void log_message(LogLevel level, std::string_view message);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace baton
