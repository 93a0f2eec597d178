#include "program/attributes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"

namespace baton {
namespace {

using launch::AttributeBuilder;
using launch::AttributeField;
using launch::AttributeRow;
using launch::FieldKind;
using launch::FieldValue;

// Why a program cannot have an attribute that launches have; empty where it can.
std::string_view why_not(const AttributeRow& row) {
  switch (row.id) {
    case AttributeId::kPdl:
      return "it is a matter of the edge from the step before: write pdl = \"on\"";
    case AttributeId::kProgrammaticEvent:
    case AttributeId::kLaunchCompletionEvent:
      return "a launch step has it, as the name of an event";
    case AttributeId::kDeviceUpdatableNode:
      return "a program does not return the node's handle";
    default:
      return row.refusal;
  }
}

const AttributeRow& known_row(const ProgramAttribute& attribute) {
  const AttributeRow* row = launch::find_row(attribute.name);
  if (row == nullptr) {
    throw error_at(attribute.where, ErrorCode::kInvalidInput, "unknown attribute \"{}\"{}",
                   printable(attribute.name), suggestion(attribute.name, attribute_keys()));
  }
  if (const std::string_view reason = why_not(*row); !reason.empty()) {
    throw error_at(attribute.where, ErrorCode::kInvalidInput,
                   "the attribute {} cannot be used in a program: {}", attribute.name, reason);
  }
  return *row;
}

const AttributeField* find_field(const AttributeRow& row, std::string_view name) {
  for (const AttributeField& field : row.fields) {
    if (field_name(field) == name) return &field;
  }
  return nullptr;
}

// The field that a value is for: by its name, else by its place among the others.
const AttributeField& field_of(const AttributeRow& row, const AttributeValue& value,
                               std::size_t position) {
  if (value.field.empty()) {
    if (position < row.fields.size()) return row.fields[position];
    throw error_at(value.where, ErrorCode::kInvalidInput, "{} takes {} value{}, more are given",
                   row.name, row.fields.size(), row.fields.size() == 1 ? "" : "s");
  }
  if (const AttributeField* field = find_field(row, value.field)) return *field;
  std::vector<std::string_view> known;
  for (const AttributeField& field : row.fields) known.push_back(field_name(field));
  throw error_at(value.where, ErrorCode::kInvalidInput, "{} has no field \"{}\"{}", row.name,
                 printable(value.field), suggestion(value.field, known));
}

[[noreturn]] void refuse(const AttributeRow& row, const AttributeField& field,
                         const AttributeValue& value, std::string_view wanted) {
  const std::string_view name = field_name(field);
  throw error_at(value.where, ErrorCode::kInvalidInput, "{}{}{} must be {}", row.name,
                 name.empty() ? "" : ".", name, wanted);
}

// Text becomes what the field is made of.
void resolve_text(const AttributeField& field, AttributeValue& value) {
  auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr || field.kind == FieldKind::kChoice) return;
  if (field.kind == FieldKind::kHandle) {
    value.value = BufferOffset(*text, value.where);
  } else {
    value.value = Expression(*text, value.where);
  }
}

// What the table checks the value against; a number that is known later stands as the least.
FieldValue checked_value(const AttributeRow& row, const AttributeField& field,
                         const AttributeValue& value, const AttributeNames& names) {
  const FieldValue later = static_cast<std::int64_t>(field.least);
  switch (field.kind) {
    case FieldKind::kFlag:
      if (const bool* flag = std::get_if<bool>(&value.value)) return std::int64_t{*flag};
      refuse(row, field, value, "true or false");
    case FieldKind::kHandle:
      if (const auto* place = std::get_if<BufferOffset>(&value.value)) {
        names.check_buffer(*place);
        return later;
      }
      refuse(row, field, value, "a buffer's name");
    case FieldKind::kChoice:
      if (const auto* choice = std::get_if<std::string>(&value.value)) {
        return std::string_view(*choice);
      }
      refuse(row, field, value, "a name in quotes");
    case FieldKind::kReal:
      if (const double* real = std::get_if<double>(&value.value)) return *real;
      break;
    default:
      break;
  }
  const auto* integer = std::get_if<Expression>(&value.value);
  if (integer == nullptr) {
    refuse(row, field, value,
           field.kind == FieldKind::kReal ? "a number" : "an integer or an expression in quotes");
  }
  names.check_expression(*integer);
  const auto literal = integer->literal();
  return literal ? FieldValue(*literal) : later;
}

void resolve(ProgramAttribute& attribute, const AttributeNames& names) {
  const AttributeRow& row = known_row(attribute);
  AttributeBuilder builder(row);
  for (std::size_t i = 0; i < attribute.values.size(); ++i) {
    AttributeValue& value = attribute.values[i];
    if (value.where.file.empty()) value.where = attribute.where;
    const AttributeField& field = field_of(row, value, i);
    value.field = field_name(field);
    resolve_text(field, value);
    const FieldValue checked = checked_value(row, field, value, names);
    try {
      builder.set(field.name, checked);
    } catch (Error& failure) {
      failure.at(value.where);
      throw;
    }
  }
  builder.build();
}

}  // namespace

std::span<const std::string_view> attribute_keys() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> all = {"shared", "pdl", "placement", "sms", "flops"};
    for (const AttributeRow& row : launch::attribute_rows()) {
      if (!is_event(row)) all.push_back(row.name);
    }
    return all;
  }();
  return keys;
}

std::string_view field_name(const AttributeField& field) {
  return field.kind == FieldKind::kHandle ? "buffer" : field.name;
}

bool is_event(const AttributeRow& row) {
  return row.id == AttributeId::kProgrammaticEvent || row.id == AttributeId::kLaunchCompletionEvent;
}

const AttributeRow& attribute_row(const ProgramAttribute& attribute) {
  return *launch::find_row(attribute.name);
}

const AttributeField& attribute_field(const AttributeRow& row, std::string_view name) {
  return *find_field(row, name);
}

FieldValue read_field(const LaunchAttribute& attribute, const AttributeField& field) {
  const std::byte* const from = attribute.value().data() + field.offset;
  if (field.kind == FieldKind::kReal) {
    float real = 0;
    std::memcpy(&real, from, sizeof(real));
    return double{real};
  }
  // Little-endian, as the table's values are: the low bytes are the number.
  std::int64_t integer = 0;
  std::memcpy(&integer, from, field.size);
  if (field.kind == FieldKind::kSigned) {
    const int unused = 64 - 8 * field.size;
    integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(integer) << unused) >> unused;
  }
  const auto index = static_cast<std::size_t>(integer);
  if (field.kind == FieldKind::kChoice && index < field.choices.size()) return field.choices[index];
  return integer;
}

bool is_off(const ProgramAttribute& attribute) {
  const bool* flag =
      attribute.values.size() == 1 ? std::get_if<bool>(&attribute.values[0].value) : nullptr;
  return flag != nullptr && !*flag;
}

void resolve_attributes(std::vector<ProgramAttribute>& list, const AttributeNames& names) {
  for (ProgramAttribute& attribute : list) {
    try {
      resolve(attribute, names);
    } catch (Error& failure) {
      failure.at(attribute.where);
      throw;
    }
  }
  const auto number = [](const ProgramAttribute& attribute) { return attribute_row(attribute).id; };
  std::sort(list.begin(), list.end(), [&](const ProgramAttribute& a, const ProgramAttribute& b) {
    return number(a) < number(b);
  });
  const auto twice = std::adjacent_find(
      list.begin(), list.end(),
      [](const ProgramAttribute& a, const ProgramAttribute& b) { return a.name == b.name; });
  if (twice != list.end()) {
    throw error_at(twice->where, ErrorCode::kInvalidInput, "the attribute {} is given twice",
                   twice->name);
  }
}

}  // namespace baton
