#include "capi/tensor.h"

#include <cstddef>
#include <cstring>

namespace baton::capi {

static_assert(sizeof(baton_tensor) == sizeof(dlpack::Tensor));
static_assert(offsetof(baton_tensor, device) == offsetof(dlpack::Tensor, device));
static_assert(offsetof(baton_tensor, ndim) == offsetof(dlpack::Tensor, ndim));
static_assert(offsetof(baton_tensor, dtype) == offsetof(dlpack::Tensor, dtype));
static_assert(offsetof(baton_tensor, shape) == offsetof(dlpack::Tensor, shape));
static_assert(offsetof(baton_tensor, strides) == offsetof(dlpack::Tensor, strides));
static_assert(offsetof(baton_tensor, byte_offset) == offsetof(dlpack::Tensor, byte_offset));

CheckedTensor check_tensor(const baton_tensor& tensor, const Device& device) {
  dlpack::Tensor same;
  std::memcpy(static_cast<void*>(&same), &tensor, sizeof(same));
  return baton::check_tensor(same, device);
}

std::vector<std::int64_t> shape_of(const baton_tensor& tensor) {
  return {tensor.shape, tensor.shape + tensor.ndim};
}

}  // namespace baton::capi
