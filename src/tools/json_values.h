#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "baton/attributes.h"

namespace baton::tools {

// A number; NaN and infinities, which JSON does not have, as "nan", "inf" and "-inf".
nlohmann::ordered_json json_number(double value);

// Launch attributes by the names that program files use:
// {"cluster": [2, 1, 1], "cooperative": true, "mem_sync_domain_map": {"default": 0, "remote": 1}}.
// Addresses, which differ from run to run, are left out.
nlohmann::ordered_json json_of(std::span<const LaunchAttribute> attributes);

}  // namespace baton::tools
