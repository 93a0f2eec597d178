#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "baton/metadata.h"

namespace baton::metadata {

// Baton's canonical form as JSON (docs/metadata.md).
inline constexpr const char* kCanonicalKey = "baton_metadata";

ModuleMetadata read_canonical_json(const Json& document, const std::string& name,
                                   std::vector<std::string>& remarks);

}  // namespace baton::metadata
