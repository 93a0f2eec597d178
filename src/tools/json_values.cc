#include "tools/json_values.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "launch/attribute_table.h"
#include "program/attributes.h"

namespace baton::tools {
namespace {

using Json = nlohmann::ordered_json;
using launch::AttributeField;
using launch::AttributeRow;
using launch::FieldKind;

// A program says it of the edge.
std::string attribute_name(const LaunchAttribute& attribute) {
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

}  // namespace

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json json_of(std::span<const LaunchAttribute> attributes) {
  Json json = Json::object();
  for (const LaunchAttribute& attribute : attributes) {
    const AttributeRow* row = launch::find_row(attribute.id());
    json[attribute_name(attribute)] = row == nullptr ? Json() : json_of(attribute, *row);
  }
  return json;
}

}  // namespace baton::tools
