#include "cli/attribute_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "cli/format.h"
#include "cli/json.h"
#include "launch/attribute_table.h"
#include "program/attributes.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using launch::AttributeField;
using launch::AttributeRow;
using launch::FieldKind;

// A program says it of the edge.
std::string name_of(const LaunchAttribute& attribute) {
  return attribute.id() == AttributeId::kPdl ? "pdl" : attribute.name();
}

bool is_extents(const AttributeRow& row) {
  return row.fields.size() == 3 && row.fields[0].name == "x";
}

Json json_of(const LaunchAttribute& attribute, const AttributeField& field) {
  const launch::FieldValue value = read_field(attribute, field);
  if (const auto* real = std::get_if<double>(&value)) return json_number(*real);
  if (const auto* choice = std::get_if<std::string_view>(&value)) return *choice;
  const std::int64_t integer = std::get<std::int64_t>(value);
  return field.kind == FieldKind::kFlag ? Json(integer != 0) : Json(integer);
}

Json json_of(const LaunchAttribute& attribute, const AttributeRow& row) {
  if (row.fields.size() == 1) return json_of(attribute, row.fields[0]);
  Json json = is_extents(row) ? Json::array() : Json::object();
  for (const AttributeField& field : row.fields) {
    if (field.kind == FieldKind::kHandle) continue;
    if (is_extents(row)) {
      json.push_back(json_of(attribute, field));
    } else {
      json[std::string(field.name)] = json_of(attribute, field);
    }
  }
  return json;
}

std::string text_of(const LaunchAttribute& attribute) {
  const std::string name = name_of(attribute);
  const AttributeRow* row = launch::find_row(attribute.id());
  if (row == nullptr) return name;
  if (is_extents(*row)) {
    const auto extents = attribute.as<std::array<std::uint32_t, 3>>();
    return fmt::format("{} {}", name, format_extent({extents[0], extents[1], extents[2]}));
  }
  const Json value = json_of(attribute, *row);
  if (value.is_boolean()) return value.get<bool>() ? name : name + " off";
  return fmt::format("{} {}", name, value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

std::string format_attributes(std::span<const LaunchAttribute> attributes) {
  std::string text;
  for (const LaunchAttribute& attribute : attributes) {
    text += (text.empty() ? "" : ", ") + text_of(attribute);
  }
  return text;
}

Json json_of(std::span<const LaunchAttribute> attributes) {
  Json json = Json::object();
  for (const LaunchAttribute& attribute : attributes) {
    const AttributeRow* row = launch::find_row(attribute.id());
    json[name_of(attribute)] = row == nullptr ? Json() : json_of(attribute, *row);
  }
  return json;
}

}  // namespace baton::cli
