#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "baton/metadata.h"
#include "metadata/fields.h"

namespace baton {
namespace {

using Value = std::variant<std::int64_t, double, bool, const void*>;

constexpr std::uint32_t kTensorMapBytes = 128;
// Of a CUtensorMap, as cuda.h declares it up to CUDA 12; CUDA 13 asks 128 of its own objects, and
// its driver takes both.
constexpr std::uintptr_t kTensorMapAlignment = 64;

std::string to_text(const Value& value) {
  struct Printer {
    std::string operator()(std::int64_t given) const { return fmt::format("{}", given); }
    std::string operator()(double given) const { return fmt::format("{}", given); }
    std::string operator()(bool given) const { return given ? "true" : "false"; }
    std::string operator()(const void* given) const { return fmt::format("the handle {}", given); }
  };
  return std::visit(Printer{}, value);
}

// Names one operand for messages.
struct ArgumentPlace {
  const FunctionMetadata& function;
  std::size_t index;  // among the kernel's arguments

  [[noreturn]] void refuse(const Value& value, const std::string& wanted) const {
    throw error(ErrorCode::kInvalidInput, "function {}: argument {} is {}, it takes {}",
                function.symbol(), index, to_text(value), wanted);
  }
};

// The value as an integer where it is one, exactly.
std::optional<std::int64_t> as_integer(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* real = std::get_if<double>(&value)) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    if (*real >= -kLimit && *real < kLimit && *real == std::trunc(*real)) {
      return static_cast<std::int64_t>(*real);
    }
  }
  return std::nullopt;
}

std::optional<double> as_real(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  return std::nullopt;
}

// The bits of an integer of that dtype, low bytes first.
std::uint64_t integer_bits(DType dtype, const Value& value, const ArgumentPlace& place) {
  const unsigned bits = dtype == DType::kBool ? 1 : static_cast<unsigned>(size_of(dtype)) * 8;
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (is_signed_integer(dtype)) {
    least = std::numeric_limits<std::int64_t>::min() >> (64 - bits);
    most >>= 64 - bits;
  } else if (bits < 64) {
    most = (std::int64_t{1} << bits) - 1;
  }
  const auto integer = as_integer(value);
  if (!integer || *integer < least || *integer > most) {
    place.refuse(value, fmt::format("an integer from {} to {} ({})", least, most,
                                    place.function.parameters()[place.index].type.name()));
  }
  return static_cast<std::uint64_t>(*integer);
}

// Rounds as the kernel's own conversion would; what is finite stays finite.
std::uint64_t float_bits(DType dtype, const Value& value, const ArgumentPlace& place) {
  const auto wanted = [&](const char* what) {
    return fmt::format("{} ({})", what, place.function.parameters()[place.index].type.name());
  };
  const auto real = as_real(value);
  if (!real) place.refuse(value, wanted("a number"));
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (as_integer(*real) != *integer || !holds_exactly(dtype, *real)) {
      place.refuse(value, wanted("an integer that the type holds exactly, or a real number"));
    }
  }
  const auto bits = encode_in_range(dtype, *real);
  if (!bits) place.refuse(value, wanted("a number that does not overflow the type"));
  return *bits;
}

Argument tensor_map(const Value& value, const ArgumentPlace& place) {
  const auto* handle = std::get_if<const void*>(&value);
  if (handle == nullptr || *handle == nullptr) {
    place.refuse(value, "the host address of a tensor map");
  }
  if (reinterpret_cast<std::uintptr_t>(*handle) % kTensorMapAlignment != 0) {
    place.refuse(value, fmt::format("the host address of a tensor map, which is a multiple of {}",
                                    kTensorMapAlignment));
  }
  // By value: the driver copies what lies there.
  return {*handle, kTensorMapBytes, false, std::nullopt};
}

// Packs one scalar or address into the eight bytes of `slot`.
Argument pack_one(const FunctionMetadata::Parameter& parameter, const Value& value,
                  const ArgumentPlace& place, std::byte* slot) {
  if (parameter.type == MetadataType{}) {
    const auto* handle = std::get_if<const void*>(&value);
    if (handle == nullptr) {
      place.refuse(value, "an address (handle): wrap a device address as DevicePointer");
    }
    std::memcpy(slot, handle, sizeof *handle);
    return {slot, sizeof *handle, true, std::nullopt};
  }
  const auto dtype = parameter.type.dtype();
  if (!dtype) {
    place.refuse(value, fmt::format("{}, which no single value can give", parameter.type.name()));
  }
  const std::uint64_t bits =
      is_float(*dtype) ? float_bits(*dtype, value, place) : integer_bits(*dtype, value, place);
  // Little-endian, as CUDA's hosts are: the low bytes are the number.
  std::memcpy(slot, &bits, sizeof bits);
  return {slot, static_cast<std::uint32_t>(size_of(*dtype)), false, *dtype};
}

bool is_extent(std::string_view field) {
  return field.ends_with(".x") || field.ends_with(".y") || field.ends_with(".z");
}

// A launch value as it is meant: by the rules, an extent of 0 may stand for 1.
LaunchValue launch_value(std::string_view field, const Value& value, const std::string& symbol,
                         OperandRules rules) {
  if (const auto* real = std::get_if<double>(&value)) {
    if (const auto integer = as_integer(value)) return {field, *integer};
    return {field, *real};
  }
  if (const auto* handle = std::get_if<const void*>(&value)) {
    const metadata::Field* known = metadata::find_field(field);
    const bool takes_handle =
        known->place == metadata::Field::Place::kStream ||
        (known->row != nullptr && std::any_of(known->row->fields.begin(), known->row->fields.end(),
                                              [&](const launch::AttributeField& leaf) {
                                                return leaf.name == known->leaf &&
                                                       leaf.kind == launch::FieldKind::kHandle;
                                              }));
    if (!takes_handle) {
      throw error(ErrorCode::kInvalidInput, "function {}: {} is {}, it takes a number", symbol,
                  field, to_text(value));
    }
    return {field, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(*handle))};
  }
  std::int64_t integer = *as_integer(value);
  if (integer == 0 && rules == OperandRules::kTags && is_extent(field)) integer = 1;
  return {field, integer};
}

}  // namespace

void Operand::refuse(unsigned long long value) {
  throw error(ErrorCode::kInvalidInput,
              "an operand is {}: integers of a packed call are signed 64-bit ones", value);
}

PackedLaunch FunctionMetadata::pack(Span<const Operand> operands) const {
  const std::size_t count = parameters_.size() + operands_.size();
  if (operands.size() != count) {
    throw error(
        ErrorCode::kInvalidInput,
        "function {} takes {} values ({} arguments, then {} of the launch: {}), {} {} given",
        symbol_, count, parameters_.size(), operands_.size(), fmt::join(operands_, ", "),
        operands.size(), operands.size() == 1 ? "was" : "were");
  }
  PackedLaunch packed;
  packed.bytes_.resize(parameters_.size() * sizeof(std::uint64_t));
  packed.arguments_.reserve(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ArgumentPlace place{*this, i};
    const Value& value = operands[i].value();
    packed.arguments_.push_back(parameters_[i].tensor_map
                                    ? tensor_map(value, place)
                                    : pack_one(parameters_[i], value, place,
                                               packed.bytes_.data() + i * sizeof(std::uint64_t)));
  }
  packed.values_.reserve(operands_.size() + flags_.size());
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    packed.values_.push_back(
        launch_value(operands_[i], operands[parameters_.size() + i].value(), symbol_, rules_));
  }
  for (const std::string_view flag : flags_) {
    // It says what the block is, and gives the launch nothing.
    if (flag != metadata::kRequiredBlockFlag) packed.values_.push_back({flag, std::int64_t{1}});
  }
  return packed;
}

}  // namespace baton
