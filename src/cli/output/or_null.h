#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace baton::cli {

// The value, or null where there is none.
template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace baton::cli
