#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/text/suggest.h"
#include "launch/attribute_table.h"

namespace baton::launch {
namespace {

std::string full_name(const AttributeRow& row, const AttributeField& field) {
  return field.name.empty() ? std::string(row.name) : fmt::format("{}.{}", row.name, field.name);
}

std::string to_text(const FieldValue& value) {
  return std::visit([](const auto& given) { return fmt::format("{}", given); }, value);
}

[[noreturn]] void refuse_value(const AttributeRow& row, const AttributeField& field,
                               const FieldValue& value) {
  const std::string name = full_name(row, field);
  if (!field.choices.empty()) {
    std::vector<std::string> known(field.choices.begin(), field.choices.end());
    const auto* text = std::get_if<std::string_view>(&value);
    throw error(ErrorCode::kInvalidInput, "{} is {}, it takes {}{}", name, to_text(value),
                fmt::join(known, ", "), text ? suggestion(*text, known) : "");
  }
  if (field.kind == FieldKind::kFlag) {
    throw error(ErrorCode::kInvalidInput, "{} is {}, it takes true or false", name, to_text(value));
  }
  throw error(ErrorCode::kInvalidInput, "{} is {}, it takes {} from {} to {}", name, to_text(value),
              field.kind == FieldKind::kReal ? "a number" : "an integer", field.least, field.most);
}

// The choice's number; nothing where there is no such choice.
std::optional<std::int64_t> find_choice(const AttributeField& field, std::string_view text) {
  for (std::size_t i = 0; i < field.choices.size(); ++i) {
    if (field.choices[i] == text) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

// The value as an integer where it is one, exactly.
std::optional<std::int64_t> as_integer(const AttributeField& field, const FieldValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* text = std::get_if<std::string_view>(&value)) return find_choice(field, *text);
  return std::nullopt;
}

std::optional<double> as_real(const FieldValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::nullopt;
}

}  // namespace

FieldValue read_field(const AttributeField& field, const LaunchAttribute& attribute) {
  const std::byte* place = attribute.value().data() + field.offset;
  if (field.kind == FieldKind::kReal) {
    float value = 0;
    std::memcpy(&value, place, sizeof(value));
    return static_cast<double>(value);
  }
  if (field.kind == FieldKind::kSigned) {
    std::int32_t value = 0;
    std::memcpy(&value, place, sizeof(value));
    return std::int64_t{value};
  }
  std::int64_t value = 0;
  std::memcpy(&value, place, field.size);
  return value;
}

void AttributeBuilder::set(std::string_view name, const FieldValue& value) {
  std::size_t index = 0;
  while (index < row_->fields.size() && row_->fields[index].name != name) ++index;
  if (index == row_->fields.size()) {
    std::vector<std::string> known;
    for (const AttributeField& field : row_->fields) known.emplace_back(field.name);
    throw error(ErrorCode::kInvalidInput, "{} has no field \"{}\"{}", row_->name, name,
                suggestion(name, known));
  }
  const AttributeField& field = row_->fields[index];
  if ((given_ & 1u << index) != 0) {
    throw error(ErrorCode::kInvalidInput, "{} is given twice", full_name(*row_, field));
  }
  given_ |= 1u << index;
  if (field.kind == FieldKind::kReal) {
    const std::optional<double> real = as_real(value);
    // Written so that NaN is refused.
    if (!real || !(*real >= field.least && *real <= field.most)) refuse_value(*row_, field, value);
    const float narrow = static_cast<float>(*real);
    std::memcpy(value_.data() + field.offset, &narrow, sizeof(narrow));
    return;
  }
  const std::optional<std::int64_t> integer = as_integer(field, value);
  if (!integer || static_cast<double>(*integer) < field.least ||
      static_cast<double>(*integer) > field.most) {
    refuse_value(*row_, field, value);
  }
  // Little-endian, as CUDA's hosts are: the low bytes are the number.
  std::memcpy(value_.data() + field.offset, &*integer, field.size);
}

LaunchAttribute AttributeBuilder::build() const {
  auto value = value_;
  for (std::size_t i = 0; i < row_->fields.size(); ++i) {
    const AttributeField& field = row_->fields[i];
    if ((given_ & 1u << i) != 0) continue;
    if (field.required) {
      throw error(ErrorCode::kInvalidInput, "{} is missing", full_name(*row_, field));
    }
    std::memcpy(value.data() + field.offset, &field.otherwise, field.size);
  }
  return LaunchAttribute(row_->id, value.data(), value.size());
}

}  // namespace baton::launch
