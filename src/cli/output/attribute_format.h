#pragma once

#include <span>
#include <string>

#include "baton/attributes.h"

namespace baton::cli {

// Launch attributes as tables show them, by the names that program files use:
// "cluster 2 x 1, cooperative, pdl".
std::string format_attributes(std::span<const LaunchAttribute> attributes);

}  // namespace baton::cli
