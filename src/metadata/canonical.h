#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "baton/metadata.h"

namespace baton::metadata {

// What the two spellings of Baton's canonical form share.

inline constexpr std::int64_t kCanonicalVersion = 1;

// How a parameter that is a tensor map is written; others are written as their type.
inline constexpr std::string_view kTensorMapType = "tensor_map";

std::string parameter_text(const FunctionMetadata::Parameter& parameter);
// Throw kInvalidInput naming `where` and the text.
FunctionMetadata::Parameter parse_parameter(std::string_view text, const std::string& where);
OperandRules parse_rules(std::string_view text, const std::string& where);
void check_version(std::int64_t version, const std::string& name);

}  // namespace baton::metadata
