#include "program/writer/argument_writer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/overloaded.h"
#include "launch/tensor_map_limits.h"
#include "program/attributes.h"
#include "program/names.h"

namespace baton {
namespace {

template <typename Enum>
std::string word_of(std::span<const std::string_view> words, Enum value) {
  return toml_string(words[static_cast<std::size_t>(value)]);
}

std::string tensor_map(const TensorMapArgument& map) {
  TomlTable fields;
  fields.add("buffer", toml_place(map.buffer));
  fields.add_if("shape", map.shape);
  fields.add_if("strides", map.strides);
  fields.add_if("box", map.box);
  fields.add_if("element_strides", map.element_strides);
  if (map.type) fields.add("type", word_of(launch::tensor_map_types(), *map.type));
  fields.add("interleave", word_of(launch::tensor_map_interleaves(), map.interleave));
  fields.add("swizzle", word_of(launch::tensor_map_swizzles(), map.swizzle));
  fields.add("l2_promotion", word_of(launch::tensor_map_l2_promotions(), map.l2_promotion));
  fields.add("oob_fill", word_of(launch::tensor_map_fills(), map.oob_fill));
  TomlTable out;
  out.add("tensor_map", fields.as_value());
  return out.as_value();
}

std::string typed(const TypedValue& value, const LaunchArgument& argument) {
  const auto integer = [&](const Expression& expression) {
    // A text for a float is read as a float expression, whose division is another one.
    if (is_float(value.dtype) && !expression.literal()) {
      throw error_at(argument.where, ErrorCode::kInvalidInput,
                     "the integer expression \"{}\" for {} cannot be in a program file; make it a "
                     "FloatExpression",
                     expression.text(), to_string(value.dtype));
    }
    return toml_expression(expression);
  };
  TomlTable out;
  out.add(to_string(value.dtype),
          std::visit(Overloaded{[](double number) { return toml_float(number); }, integer,
                                [](const FloatExpression& expression) {
                                  return toml_string(expression.text());
                                }},
                     value.value));
  return out.as_value();
}

std::string view(const BufferView& view) {
  TomlTable out;
  out.add("buffer", toml_string(view.place.buffer));
  out.add_if("offset", view.place.offset);
  out.add_if("count", view.count);
  return out.as_value();
}

std::string bytes(const RawBytes& raw) {
  std::string digits;
  for (const char byte : raw.bytes) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  TomlTable out;
  out.add("bytes", toml_string(digits));
  return out.as_value();
}

std::string fields_of(const StructArgument& argument) {
  std::string list;
  for (const LaunchArgument& field : argument.fields) {
    list += (list.empty() ? "" : ", ") + toml_argument(field);
  }
  TomlTable out;
  out.add("struct", "[" + list + "]");
  return out.as_value();
}

std::string attribute_value(const AttributeValue& value) {
  return std::visit(
      Overloaded{[](const std::string& text) { return toml_string(text); },
                 [](const Expression& expression) { return toml_expression(expression); },
                 [](double number) { return toml_float(number); },
                 [](bool flag) { return std::string(flag ? "true" : "false"); },
                 [](const BufferOffset& place) { return toml_place(place); }},
      value.value);
}

std::string attribute_text(const ProgramAttribute& attribute) {
  const launch::AttributeRow& row = attribute_row(attribute);
  if (row.fields.size() == 1) return attribute_value(attribute.values.at(0));
  if (row.fields.size() == 3 && row.fields[0].name == "x") {
    std::string list;
    for (const AttributeValue& value : attribute.values) {
      list += (list.empty() ? "" : ", ") + attribute_value(value);
    }
    return "[" + list + "]";
  }
  TomlTable out;
  for (const AttributeValue& value : attribute.values) out.add(value.field, attribute_value(value));
  return out.as_value();
}

}  // namespace

std::string toml_argument(const LaunchArgument& argument) {
  return std::visit(
      Overloaded{[](const std::string& text) { return toml_string(text); },
                 [](const BufferOffset& place) { return toml_place(place); },
                 [](const Expression& expression) { return toml_expression(expression); },
                 [](double number) { return toml_float(number); },
                 [&](const TypedValue& value) { return typed(value, argument); },
                 [](const RawBytes& raw) { return bytes(raw); },
                 [](const TensorMapArgument& map) { return tensor_map(map); },
                 [](const StructArgument& fields) { return fields_of(fields); },
                 [](const BufferView& place) { return view(place); }},
      argument.value);
}

void write_attributes(const ProgramAttributes& attributes, TomlTable& table) {
  table.add_if("shared", attributes.shared);
  if (attributes.pdl) table.add("pdl", word_of(kPdlNames, *attributes.pdl));
  if (attributes.placement) {
    table.add("placement", word_of(kPlacementNames, *attributes.placement));
  }
  table.add_if("sms", attributes.sms);
  table.add_if("flops", attributes.flops);
  for (const ProgramAttribute& attribute : attributes.list) {
    table.add(attribute.name, attribute_text(attribute));
  }
}

}  // namespace baton
