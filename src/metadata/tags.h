#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/metadata.h"

namespace baton::metadata {

// TVM's launch-parameter tags: a list of strings of which each names a value of the call, or is a
// flag. Here they become fields and back, and nowhere else.

// Fills operands, flags and rules of `parts`. Both prefixes (tir., tirx.) are read, whatever wrote
// them. Throws kInvalidInput naming the function and the tag, with the nearest known one, for a tag
// that is unknown, given twice, or stands where it cannot (dynamic shared memory comes last).
void decode_tags(std::span<const std::string> tags, FunctionMetadata::Parts& parts);

// Throws kInvalidInput where no tag says what the function needs.
std::vector<std::string> encode_tags(const FunctionMetadata& function, TagPrefix prefix);

// Whether the function's launch values are those that tags can name.
bool has_tags(const FunctionMetadata& function);

}  // namespace baton::metadata
