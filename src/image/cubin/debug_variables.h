#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "baton/dtype.h"
#include "image/cubin/debug_entries.h"

namespace baton::image {

// The numbers that variables consist of, by the variables' symbols: of an array its elements, of a
// struct its members where all are of one type ("float4"). Nothing for other types.
using DebugVariables = std::unordered_map<std::string, std::optional<DType>>;
DebugVariables debug_variables(const DebugEntries& entries);

}  // namespace baton::image
