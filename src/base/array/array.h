#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/array.h"

namespace baton {

// "[4, 8]".
std::string shape_text(const std::vector<std::int64_t>& shape);

// The index of an element, which is counted in C order, in an array without an extent of 0.
std::vector<std::int64_t> index_of(std::int64_t element, const std::vector<std::int64_t>& shape);

// Throws kInvalidInput if an array's bytes are not those of its dtype and shape: negative extents,
// more bytes than can be addressed, too few or too many. `what` names it in the message.
void check_bytes(const Array& array, std::string_view what);

}  // namespace baton
