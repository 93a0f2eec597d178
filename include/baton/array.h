#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "baton/dtype.h"
#include "baton/export.h"

namespace baton {

// An array in host memory: contiguous, C order, little-endian. A plain value.
struct BATON_API Array {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::string bytes;  // size_of(dtype) * product(shape)

  // The product of the shape.
  std::int64_t elements() const;
};

}  // namespace baton
