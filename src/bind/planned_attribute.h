#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "baton/attributes.h"
#include "baton/program.h"
#include "bind/buffers.h"
#include "launch/attribute_table.h"
#include "program/expression/bound_expression.h"

namespace baton::bind {

// One launch attribute of a step with its names resolved: what is evaluated at each launch.
class PlannedAttribute {
 public:
  // Of a checked program.
  PlannedAttribute(const ProgramAttribute& attribute, const NameSlots& names,
                   const BufferTable& buffers);

  bool uses_slot(std::size_t slot) const;
  // Whether its value contains the address of a buffer.
  bool has_address() const;

  // Throws kInvalidInput, at the value's place, for a number that the attribute does not take, and
  // for a window that leaves its buffer.
  LaunchAttribute evaluate(std::span<const std::int64_t> slots, const BufferTable& buffers) const;

 private:
  struct Place {
    std::uint32_t buffer = 0;
    std::optional<BoundExpression> offset;  // in elements
  };
  struct Field {
    const launch::AttributeField* row;
    SourceLocation where;
    std::variant<std::int64_t, double, std::string, BoundExpression, Place> value;
  };

  launch::FieldValue value_of(const Field& field, std::span<const std::int64_t> slots,
                              const BufferTable& buffers) const;
  void check_window(const LaunchAttribute& attribute, std::span<const std::int64_t> slots,
                    const BufferTable& buffers) const;

  const launch::AttributeRow* row_;
  std::vector<Field> fields_;
};

}  // namespace baton::bind
