#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "baton/dtype.h"
#include "baton/world.h"

namespace baton::world {

// Whether the elements of a dtype have such a result: bool has no sum.
bool can_reduce(ReduceOp op, DType dtype) noexcept;

// Reduces `count` elements of each part into `result`, in the order of the parts: ((a + b) + c) +
// d.
// - f32, f64: in their own precision. f16, bf16, f8e4m3, f8e5m2: in f32, rounded once at the end
//   to nearest with ties to even; a sum beyond the range becomes infinite, or NaN in f8e4m3.
// - Integers: sums wrap around.
// - max, min: a NaN in any part gives NaN.
// The bits of the result depend on the parts alone. `result` may be one of the parts.
void reduce(ReduceOp op, DType dtype, std::size_t count, std::span<const char* const> parts,
            char* result);

}  // namespace baton::world
