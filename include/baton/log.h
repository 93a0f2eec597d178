#pragma once

#include <functional>
#include <string_view>

#include "baton/export.h"

namespace baton {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// Receives every message at or above the current level. Called under a lock, from any thread: it
// must not log. If it throws, the message goes to standard error instead.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

// Replaces the sink; an empty callback restores the default, which writes "baton: level: message"
// to standard error. Thread-safe.
BATON_API void set_log_callback(LogCallback callback);

// Replaces the level. The initial level comes from BATON_LOG (error, warning, info, debug) at the
// first message; the default is `warning`. Thread-safe.
BATON_API void set_log_level(LogLevel level);

}  // namespace baton
