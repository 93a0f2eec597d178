#include "bind/planned_attribute.h"

#include "base/error.h"
#include "program/attributes.h"

namespace baton::bind {
namespace {

using launch::FieldValue;

// The element of the buffer that a window starts at.
std::int64_t first_element(const std::optional<BoundExpression>& offset,
                           std::span<const std::int64_t> slots) {
  return offset ? offset->evaluate(slots) : 0;
}

}  // namespace

PlannedAttribute::PlannedAttribute(const ProgramAttribute& attribute, const NameSlots& names,
                                   const BufferTable& buffers)
    : row_(&attribute_row(attribute)) {
  for (const AttributeValue& value : attribute.values) {
    Field field{&attribute_field(*row_, value.field), value.where, {}};
    if (const auto* integer = std::get_if<Expression>(&value.value)) {
      field.value = BoundExpression(integer->code(), names);
    } else if (const auto* place = std::get_if<BufferOffset>(&value.value)) {
      Place planned{buffer_index(buffers, place->buffer), {}};
      if (place->offset) planned.offset = BoundExpression(place->offset->code(), names);
      field.value = std::move(planned);
    } else if (const auto* real = std::get_if<double>(&value.value)) {
      field.value = *real;
    } else if (const bool* flag = std::get_if<bool>(&value.value)) {
      field.value = std::int64_t{*flag};
    } else {
      field.value = std::get<std::string>(value.value);
    }
    fields_.push_back(std::move(field));
  }
}

bool PlannedAttribute::has_address() const {
  return std::ranges::any_of(
      fields_, [](const Field& field) { return std::holds_alternative<Place>(field.value); });
}

bool PlannedAttribute::uses_slot(std::size_t slot) const {
  for (const Field& field : fields_) {
    if (const auto* number = std::get_if<BoundExpression>(&field.value)) {
      if (number->uses_slot(slot)) return true;
    } else if (const auto* place = std::get_if<Place>(&field.value)) {
      if (place->offset && place->offset->uses_slot(slot)) return true;
    }
  }
  return false;
}

FieldValue PlannedAttribute::value_of(const Field& field, std::span<const std::int64_t> slots,
                                      const BufferTable& buffers) const {
  if (const auto* number = std::get_if<BoundExpression>(&field.value)) {
    return number->evaluate(slots);
  }
  if (const auto* place = std::get_if<Place>(&field.value)) {
    const BoundBuffer& buffer = buffers[place->buffer];
    const std::int64_t offset = first_element(place->offset, slots);
    if (offset < 0 || offset > buffer.elements) {
      throw error(ErrorCode::kInvalidInput,
                  "{} starts at {} + {}, outside the buffer of {} "
                  "elements",
                  row_->name, buffer.definition->name, offset, buffer.elements);
    }
    return static_cast<std::int64_t>(buffer.address() +
                                     static_cast<std::uint64_t>(offset) * buffer.element_size());
  }
  if (const auto* integer = std::get_if<std::int64_t>(&field.value)) return *integer;
  if (const auto* real = std::get_if<double>(&field.value)) return *real;
  return std::string_view(std::get<std::string>(field.value));
}

// A window is bytes of one buffer.
void PlannedAttribute::check_window(const LaunchAttribute& attribute,
                                    std::span<const std::int64_t> slots,
                                    const BufferTable& buffers) const {
  for (const Field& field : fields_) {
    const auto* place = std::get_if<Place>(&field.value);
    if (place == nullptr) continue;
    const BoundBuffer& buffer = buffers[place->buffer];
    const std::uint64_t start =
        static_cast<std::uint64_t>(first_element(place->offset, slots)) * buffer.element_size();
    const launch::FieldValue size = read_field(attribute, attribute_field(*row_, "num_bytes"));
    const auto bytes = static_cast<std::uint64_t>(std::get<std::int64_t>(size));
    if (bytes <= buffer.bytes - start) continue;
    throw error_at(field.where, ErrorCode::kInvalidInput,
                   "{} has {} bytes from byte {} of {} on, which has {}", row_->name, bytes, start,
                   buffer.definition->name, buffer.bytes);
  }
}

LaunchAttribute PlannedAttribute::evaluate(std::span<const std::int64_t> slots,
                                           const BufferTable& buffers) const {
  launch::AttributeBuilder builder(*row_);
  for (const Field& field : fields_) {
    try {
      builder.set(field.row->name, value_of(field, slots, buffers));
    } catch (Error& failure) {
      failure.at(field.where);
      if (const auto* number = std::get_if<BoundExpression>(&field.value)) {
        if (const std::string values = number->values_text(slots); !values.empty()) {
          failure.note("with" + values);
        }
      }
      throw;
    }
  }
  const LaunchAttribute attribute = builder.build();
  check_window(attribute, slots, buffers);
  return attribute;
}

}  // namespace baton::bind
