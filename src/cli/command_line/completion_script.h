#pragma once

#include <string>

namespace baton::cli {

// The completion of commands, options and values, for one shell each.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace baton::cli
