#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/error.h"
#include "baton/metadata.h"
#include "metadata/fields.h"

namespace baton {
namespace {

using metadata::Field;

std::string to_text(const LaunchValue& value) {
  return std::visit([](auto number) { return fmt::format("{}", number); }, value.value);
}

std::uint32_t number(const LaunchValue& value, std::uint32_t least, const std::string& symbol) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto* integer = std::get_if<std::int64_t>(&value.value);
  if (integer == nullptr || *integer < least || *integer > kMost) {
    throw error(ErrorCode::kInvalidInput,
                "function {}: {} is {}, it takes an integer from {} to {}", symbol, value.field,
                to_text(value), least, kMost);
  }
  return static_cast<std::uint32_t>(*integer);
}

std::uint32_t& axis_of(Dim3& extents, std::uint8_t axis) {
  return axis == 0 ? extents.x : axis == 1 ? extents.y : extents.z;
}

// The attributes that launch values build up, field by field, in the order of their first ones.
class AttributeSet {
 public:
  void set(const Field& field, const LaunchValue& value) {
    const auto given =
        std::visit([](auto number) { return launch::FieldValue(number); }, value.value);
    builder(*field.row).set(field.leaf, given);
  }

  void build(LaunchAttributes& attributes) const {
    for (const launch::AttributeBuilder& builder : builders_) attributes.set(builder.build());
  }

 private:
  launch::AttributeBuilder& builder(const launch::AttributeRow& row) {
    for (launch::AttributeBuilder& known : builders_) {
      if (&known.row() == &row) return known;
    }
    return builders_.emplace_back(row);
  }

  std::vector<launch::AttributeBuilder> builders_;
};

}  // namespace

LaunchConfig FunctionMetadata::config(Span<const LaunchValue> values,
                                      LaunchConfig::StreamRef stream, const Device& device) const {
  LaunchConfig config;
  config.stream = stream;
  config.force_pdl = true;  // the compiler's word
  AttributeSet attributes;
  for (const LaunchValue& value : values) {
    const Field* field = metadata::find_field(value.field);
    if (field == nullptr) {
      throw error(ErrorCode::kInvalidInput, "function {}: the launch field \"{}\" is unknown",
                  symbol_, value.field);
    }
    switch (field->place) {
      case Field::Place::kGrid:
        axis_of(config.grid, field->axis) = number(value, 1, symbol_);
        break;
      case Field::Place::kBlock:
        axis_of(config.block, field->axis) = number(value, 1, symbol_);
        break;
      case Field::Place::kShared:
        config.shared = number(value, 0, symbol_);
        break;
      case Field::Place::kStream: {
        const auto* handle = std::get_if<std::int64_t>(&value.value);
        if (handle == nullptr || stream.native != nullptr || stream.device != nullptr) {
          throw error(
              ErrorCode::kInvalidInput,
              "function {} takes its stream as a value of the call; do not give another one",
              symbol_);
        }
        config.stream = LaunchConfig::StreamRef(
            reinterpret_cast<NativeStream>(static_cast<std::intptr_t>(*handle)), device);
        break;
      }
      case Field::Place::kAttribute:
        attributes.set(*field, value);
        break;
    }
  }
  attributes.build(config.attributes);
  // Tags say 1 where they mean that there is none.
  if (rules_ != OperandRules::kStrict) {
    const LaunchAttribute* preferred = config.attributes.find(AttributeId::kPreferredCluster);
    if (preferred != nullptr &&
        preferred->as<std::array<std::uint32_t, 3>>() == std::array<std::uint32_t, 3>{1, 1, 1}) {
      config.attributes.remove(AttributeId::kPreferredCluster);
    }
  }
  return config;
}

LaunchResult FunctionMetadata::launch(const Kernel& kernel, LaunchConfig::StreamRef stream,
                                      Span<const Operand> operands) const {
  if (kernel.name() != symbol_) {
    throw error(ErrorCode::kInvalidInput,
                "the metadata of function {} cannot launch kernel {}: they are not the same",
                symbol_, kernel.name());
  }
  const PackedLaunch packed = pack(operands);
  const LaunchConfig config = this->config(packed.values(), stream, kernel.device());
  check_block(config.block, kernel);
  return kernel.launch_arguments(config, packed.arguments());
}

// What the kernel was compiled for, by its metadata, its image says too; a launch of another block
// is distinguished here, before the driver refuses it for no reason.
void FunctionMetadata::check_block(const Dim3& block, const Kernel& kernel) const {
  constexpr const char* kNames[] = {"required_block_x", "required_block_y", "required_block_z"};
  const std::array<std::uint32_t, 3> given = {block.x, block.y, block.z};
  for (std::size_t axis = 0; axis < given.size(); ++axis) {
    const auto required = kernel_attributes_.find(kNames[axis]);
    if (required != kernel_attributes_.end() && required->second != given[axis]) {
      throw error(ErrorCode::kInvalidInput,
                  "function {}: block.{} is {}, its metadata says that it was compiled for {}",
                  symbol_, "xyz"[axis], given[axis], required -> second);
    }
  }
  const auto& compiled = kernel.facts().required_block;
  if (names(metadata::kRequiredBlockFlag) && compiled && *compiled != given) {
    throw error(ErrorCode::kInvalidInput, "function {}: the block is {}, it was compiled for {}",
                symbol_, fmt::join(given, "x"), fmt::join(*compiled, "x"));
  }
}

}  // namespace baton
