#pragma once

#include <string>
#include <string_view>

namespace baton::tools {

// Where a reader finds a page of the guides ("findings.md"): its path where it is installed beside
// this program, otherwise its place in the sources, "docs/findings.md".
std::string guide_place(std::string_view page);

}  // namespace baton::tools
