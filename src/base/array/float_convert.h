#pragma once

#include <cstdint>
#include <optional>

#include "baton/dtype.h"

namespace baton {

// Conversions between double and the stored form of each floating dtype. Narrowing rounds once, to
// nearest with ties to even, straight from double; overflow gives infinity, except f8e4m3, which
// has none and gives NaN. NaN stays NaN and keeps its sign; its payload may be lost. The bits above
// the dtype's width are ignored by decode and zero from encode. Thread-safe.
// Throws kInternal for a dtype that is not floating.
double decode_float(DType dtype, std::uint64_t bits);
std::uint64_t encode_float(DType dtype, double value);

// True where the dtype holds the value exactly (NaN counts as held).
bool holds_exactly(DType dtype, double value);

// The stored form of a value, rounded; nothing where the value is beyond the dtype's range: a
// finite one that becomes infinite or NaN, or an infinity that the dtype does not have.
std::optional<std::uint64_t> encode_in_range(DType dtype, double value);

}  // namespace baton
