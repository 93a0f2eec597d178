#include "pdl/value/parameter_value.h"

#include "pdl/order/shared_place.h"
#include "pdl/value/value.h"

namespace baton::overlap {
namespace {

constexpr unsigned kAddressBits = 64;

std::optional<ParameterValue> address(MemoryId memory, std::uint64_t offset, unsigned width) {
  if (width != kAddressBits || offset == kUnknownOffset) return std::nullopt;
  return ParameterValue{memory, offset};
}

std::optional<ParameterValue> number(std::uint64_t bits, const Operation& operation) {
  const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
  return ParameterValue{std::nullopt, loaded_bits(bits, operation.width, is_signed)};
}

std::optional<ParameterValue> field_at(const GivenArgument& given, std::int64_t position,
                                       const Operation& operation) {
  for (const GivenArgument::Field& field : given.fields) {
    if (field.position == position) return address(field.memory, field.offset, operation.width);
  }
  for (const GivenArgument::Number& field : given.numbers) {
    if (field.position == position && operation.width <= 8 * field.bytes) {
      return number(field.bits, operation);
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_inside_parameter(const Code& code, std::uint32_t param, std::int64_t byte, unsigned width) {
  return byte >= 0 &&
         static_cast<std::uint64_t>(byte) + width / 8 <= variable_bytes(code.kernel->params[param]);
}

std::optional<ParameterValue> parameter_value(const Code& code, const Operation& operation,
                                              std::size_t element,
                                              std::span<const GivenArgument> arguments) {
  const bool is_parameter = operation.space == Operation::Space::kParam &&
                            operation.address.kind == ValueSource::Kind::kParam &&
                            operation.address.id < arguments.size() &&
                            operation.instruction->operands.size() == 2 && operation.width >= 8 &&
                            operation.width <= 64;
  if (!is_parameter) return std::nullopt;
  const std::int64_t position = operation.instruction->operands[1].offset +
                                static_cast<std::int64_t>(element * (operation.width / 8u));
  if (!is_inside_parameter(code, operation.address.id, position, operation.width)) {
    return std::nullopt;
  }
  const GivenArgument& given = arguments[operation.address.id];
  switch (given.kind) {
    case GivenArgument::Kind::kMemory:
      if (position != 0) return std::nullopt;
      return address(given.memory, given.offset, operation.width);
    case GivenArgument::Kind::kScalar:
      if (position != 0 || !given.bits) return std::nullopt;
      return number(*given.bits, operation);
    case GivenArgument::Kind::kStruct:
      return field_at(given, position, operation);
    case GivenArgument::Kind::kTensorMap:
    case GivenArgument::Kind::kBytes:
      break;
  }
  return std::nullopt;
}

}  // namespace baton::overlap
