#include "cli/output/attribute_format.h"

#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "cli/output/format.h"
#include "tools/json_values.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const std::string& name, const Json& value) {
  if (value.is_null()) return name;
  if (value.is_array()) {
    const auto extent = [&](std::size_t axis) { return value[axis].get<std::uint32_t>(); };
    return fmt::format("{} {}", name, format_extent({extent(0), extent(1), extent(2)}));
  }
  if (value.is_boolean()) return value.get<bool>() ? name : name + " off";
  return fmt::format("{} {}", name, value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

std::string format_attributes(std::span<const LaunchAttribute> attributes) {
  std::string text;
  const Json values = tools::json_of(attributes);
  for (const auto& [name, value] : values.items()) {
    text += (text.empty() ? "" : ", ") + text_of(name, value);
  }
  return text;
}

}  // namespace baton::cli
