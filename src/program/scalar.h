#pragma once

#include <cstdint>
#include <optional>

#include "baton/dtype.h"

namespace baton {

// The stored form of a value in a dtype, in the low bits, where the dtype holds the value exactly:
// integers in range, no fraction for an integer, 0 or 1 for bool, no rounding for a float. NaN and
// infinities are held by the floats that have them.
std::optional<std::uint64_t> encode_exact(DType dtype, std::int64_t value);
std::optional<std::uint64_t> encode_exact(DType dtype, double value);

// The least and greatest value of an integer dtype of up to 32 bits, or of i64; u64 counts to the
// greatest int64.
std::int64_t least(DType dtype);
std::int64_t greatest(DType dtype);

}  // namespace baton
