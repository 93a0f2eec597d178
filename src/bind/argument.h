#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bind/argument_part.h"

namespace baton::bind {

// One argument of a launch, checked against its parameter: one value, or a struct of several.
class PlannedArgument {
 public:
  // A value and its place in the argument.
  struct Part {
    // `given` makes the value, in its place.
    template <typename... Given>
    Part(std::uint32_t at, Given&&... given) : position(at), value(std::forward<Given>(given)...) {}

    std::uint32_t position;  // in bytes
    ArgumentPart value;
  };

  // As ArgumentPart's constructor. Throws kInvalidInput also for a struct whose fields, each at the
  // next multiple of its own size, do not make the parameter's size.
  PlannedArgument(const LaunchArgument& argument, const ParamFacts& param,
                  const ValuePlace& place, const Device& device, const NameSlots& names,
                  const BufferTable& buffers);

  std::uint32_t size() const { return size_; }
  // The type for the launch's check.
  ArgumentType type() const;
  std::span<const Part> parts() const {
    if (const auto* part = std::get_if<Part>(&parts_)) return {part, 1};
    return std::get<std::vector<Part>>(parts_);
  }
  // The only value; null for a struct of several.
  const ArgumentPart* single() const {
    const auto* part = std::get_if<Part>(&parts_);
    return part == nullptr ? nullptr : &part->value;
  }
  bool uses_slot(std::size_t slot) const;

  // Writes `size()` bytes; padding is zero. Throws kInvalidInput for a value out of range and for
  // an offset outside its buffer.
  void write(std::span<const std::int64_t> slots, const BufferTable& buffers,
             std::byte* target) const;

 private:
  void plan_fields(const StructArgument& fields, const ParamFacts& param,
                   const ValuePlace& place, const Device& device, const NameSlots& names,
                   const BufferTable& buffers);

  std::uint32_t size_ = 0;
  std::variant<std::vector<Part>, Part> parts_;  // of a struct, or the only one
};

}  // namespace baton::bind
