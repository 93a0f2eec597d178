#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "baton/device.h"
#include "baton/program.h"
#include "baton/tensor_map.h"
#include "bind/buffers.h"
#include "program/expression/bound_expression.h"

namespace baton::bind {

// A tensor map argument with its names resolved: what is encoded again where its buffer or a symbol
// has changed.
class PlannedTensorMap {
 public:
  // Of a checked program.
  PlannedTensorMap(const TensorMapArgument& map, const Device& device, const NameSlots& names,
                   const BufferTable& buffers);

  std::uint32_t buffer() const { return buffer_; }
  // Where in the buffer the tensor begins, in elements.
  const std::optional<BoundExpression>& offset() const { return offset_; }
  bool uses_slot(std::size_t slot) const;

  // The 128 bytes, from `elements` of the buffer on; zeros while the buffer has no memory: checked
  // all the same. Throws kInvalidInput, kUnsupported or kDriver.
  TensorMap evaluate(std::int64_t elements, std::span<const std::int64_t> slots,
                     const BufferTable& buffers) const;

 private:
  using Expressions = std::vector<BoundExpression>;

  Device device_;
  std::uint32_t buffer_ = 0;
  std::optional<BoundExpression> offset_;
  Expressions shape_, strides_, box_, element_strides_;
  TensorMapOptions options_;  // what no expression decides
};

}  // namespace baton::bind
