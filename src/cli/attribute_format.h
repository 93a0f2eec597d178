#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "baton/attributes.h"

namespace baton::cli {

// Launch attributes as results show them, by the names that program files use. Addresses, which
// differ from run to run, are left out.

// "cluster 2 x 1, cooperative, pdl".
std::string format_attributes(std::span<const LaunchAttribute> attributes);
// {"cluster": [2, 1, 1], "cooperative": true, "mem_sync_domain_map": {"default": 0, "remote": 1}}.
nlohmann::ordered_json json_of(std::span<const LaunchAttribute> attributes);

}  // namespace baton::cli
