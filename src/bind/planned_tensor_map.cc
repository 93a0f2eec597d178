#include "bind/planned_tensor_map.h"

#include <algorithm>

#include "launch/tensor_map_limits.h"

namespace baton::bind {
namespace {

std::vector<BoundExpression> bind(const std::vector<Expression>& list, const NameSlots& names) {
  std::vector<BoundExpression> result;
  for (const Expression& expression : list) result.emplace_back(expression.code(), names);
  return result;
}

std::vector<std::int64_t> values(const std::vector<BoundExpression>& list,
                                 std::span<const std::int64_t> slots) {
  std::vector<std::int64_t> result;
  for (const BoundExpression& expression : list) result.push_back(expression.evaluate(slots));
  return result;
}

}  // namespace

PlannedTensorMap::PlannedTensorMap(const TensorMapArgument& map, const Device& device,
                                   const NameSlots& names, const BufferTable& buffers)
    : device_(device),
      buffer_(buffer_index(buffers, map.buffer.buffer)),
      shape_(bind(map.shape, names)),
      strides_(bind(map.strides, names)),
      box_(bind(map.box, names)),
      element_strides_(bind(map.element_strides, names)) {
  if (map.buffer.offset) offset_ = BoundExpression(map.buffer.offset->code(), names);
  options_.type = map.type.value_or(tensor_map_type(buffers[buffer_].definition->dtype));
  options_.interleave = map.interleave;
  options_.swizzle = map.swizzle;
  options_.l2_promotion = map.l2_promotion;
  options_.oob_fill = map.oob_fill;
}

bool PlannedTensorMap::uses_slot(std::size_t slot) const {
  const auto uses = [slot](const Expressions& list) {
    return std::any_of(list.begin(), list.end(),
                       [slot](const BoundExpression& each) { return each.uses_slot(slot); });
  };
  return (offset_ && offset_->uses_slot(slot)) || uses(shape_) || uses(strides_) || uses(box_) ||
         uses(element_strides_);
}

TensorMap PlannedTensorMap::evaluate(std::int64_t elements, std::span<const std::int64_t> slots,
                                     const BufferTable& buffers) const {
  const BoundBuffer& buffer = buffers[buffer_];
  TensorMapOptions options = options_;
  // Buffers begin at multiples of 256, so that the offset tells the alignment before there is one.
  options.address = buffer.address() + static_cast<std::uint64_t>(elements) * buffer.element_size();
  options.shape = shape_.empty() ? buffer.shape : values(shape_, slots);
  options.strides = values(strides_, slots);
  options.box = values(box_, slots);
  options.element_strides = values(element_strides_, slots);
  launch::check(options, device_.architecture());
  launch::check_reach(options, buffer.elements - elements);
  return buffer.memory ? TensorMap::encode(device_, options) : TensorMap();
}

}  // namespace baton::bind
