#pragma once

#include <string>
#include <utility>
#include <vector>

namespace baton::tools {

// The versions of the files that this Baton writes: {"bundle", "1.2"}, {"record", "2"}.
std::vector<std::pair<std::string, std::string>> format_versions();

}  // namespace baton::tools
