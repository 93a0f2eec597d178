#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace baton {

// The value of an environment variable; nothing where it is unset or empty, which users take for
// the same. As safe between threads as getenv: no thread may change the environment meanwhile.
inline std::optional<std::string> read_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace baton
