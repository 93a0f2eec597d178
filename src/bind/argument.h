#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bind/argument_part.h"

namespace baton::bind {

// One argument of a launch, checked against its parameter: one value, or a struct of several.
class PlannedArgument {
 public:
  // A value and its place in the argument.
  struct Part {
    std::uint32_t position = 0;  // in bytes
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
  std::span<const Part> parts() const { return parts_; }
  // The only value; null for a struct of several.
  const ArgumentPart* single() const { return is_struct_ ? nullptr : &parts_.front().value; }
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
  bool is_struct_ = false;
  std::vector<Part> parts_;
};

}  // namespace baton::bind
