#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/image.h"
#include "baton/launch.h"
#include "baton/program.h"
#include "bind/buffers.h"
#include "bind/planned_tensor_map.h"
#include "bind/value_place.h"
#include "program/expression/bound_expression.h"

namespace baton::bind {

// One value of an argument, checked against its parameter, or against its field of a struct: how
// its bytes are computed.
class ArgumentPart {
 public:
  // `argument` is the program's, which outlives this; `device` is the kernel's. Throws
  // kInvalidInput for a value that does not fit the parameter: its kind, its size, a constant out
  // of range.
  ArgumentPart(const LaunchArgument& argument, const ParamFacts& param, ValuePlace place,
               const Device& device, const NameSlots& names, const BufferTable& buffers);

  std::uint32_t size() const { return size_; }
  // The type for the launch's check.
  ArgumentType type() const { return {size_, pointer_, dtype_}; }
  // The buffer that is passed, by its address or by a tensor map, or none.
  std::optional<std::uint32_t> buffer() const { return buffer_; }
  // Whether the kernel declares that it only reads the buffer.
  bool read_only() const { return param_.read_only; }
  // Where in the buffer the address lies, in bytes. Throws as `write` does.
  std::uint64_t offset(std::span<const std::int64_t> slots, const BufferTable& buffers) const;
  // Whether its bytes were written out, as a struct's are.
  bool is_raw() const { return raw_; }
  bool is_tensor_map() const { return map_ != nullptr; }
  bool uses_slot(std::size_t slot) const {
    return (expression_ && expression_->uses_slot(slot)) || (count_ && count_->uses_slot(slot)) ||
           (map_ && map_->uses_slot(slot));
  }
  // A range of its buffer, in bytes.
  struct Range {
    std::uint64_t offset = 0, bytes = 0;
  };
  // The bounds of a view; nothing for a value without bounds. Throws as `write` does.
  std::optional<Range> view(std::span<const std::int64_t> slots, const BufferTable& buffers) const;
  // The bytes of its buffer that a launch is given, as [first, last): from where it points to the
  // buffer's end, or, where `index` is the slot of a group whose iterations point one after the
  // other, to where the next one points. Of a written argument that is a buffer.
  std::pair<std::uint64_t, std::uint64_t> span(std::span<const std::int64_t> slots,
                                               std::optional<std::size_t> index,
                                               const BufferTable& buffers) const;

  // Writes `size()` bytes. Throws kInvalidInput for a value out of range and for an offset outside
  // the buffer.
  void write(std::span<const std::int64_t> slots, const BufferTable& buffers,
             std::byte* target) const;

 private:
  void plan_buffer(const BufferOffset& place, const NameSlots& names, const BufferTable& buffers);
  void plan_integer(const Expression& value, const NameSlots& names);
  void plan_real(double value);
  void plan_typed(const TypedValue& typed, const NameSlots& names);
  void plan_raw(const RawBytes& raw);
  void plan_tensor_map(const TensorMapArgument& map, const Device& device, const NameSlots& names,
                       const BufferTable& buffers);
  std::int64_t first_element(std::span<const std::int64_t> slots, const BufferTable& buffers) const;
  void refuse_pointer(std::string_view given) const;
  void refuse_pointer_or_bytes(std::string_view given) const;
  std::uint64_t encode(std::int64_t value) const;
  std::uint64_t encode(double value) const;
  std::uint64_t round(double value) const;
  void set_constant(std::uint64_t bits);

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const;

  ValuePlace place_;
  const SourceLocation* where_;  // the program's
  ParamFacts param_;
  std::uint32_t size_ = 0;
  bool pointer_ = false;
  bool raw_ = false;
  bool is_float_expression_ = false;
  std::optional<DType> dtype_;  // the type that a number is converted to, where it is known
  std::optional<std::uint32_t> buffer_;
  std::optional<BoundExpression> expression_;  // the value, or the buffer's offset in elements
  bool is_view_ = false;
  std::optional<BoundExpression> count_;  // of a view, in elements; else up to the buffer's end
  std::shared_ptr<const PlannedTensorMap> map_;  // few arguments are one
  std::string constant_;                         // else
};

}  // namespace baton::bind
