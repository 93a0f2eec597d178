#pragma once

#include <cstdint>
#include <vector>

#include "baton.h"
#include "session/memory/tensor_check.h"

namespace baton::capi {

// As check_tensor of session does.
CheckedTensor check_tensor(const baton_tensor& tensor, const Device& device);

// Its extents; of a checked tensor.
std::vector<std::int64_t> shape_of(const baton_tensor& tensor);

}  // namespace baton::capi
