#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baton/metadata.h"

namespace baton::metadata {

// Baton's canonical form in binary (docs/metadata.md).
bool is_canonical_binary(std::string_view bytes);

ModuleMetadata read_canonical_binary(std::string_view bytes, const std::string& name,
                                     std::vector<std::string>& remarks);

}  // namespace baton::metadata
