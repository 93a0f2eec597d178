#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace baton::tools {

// A file that `check` is asked about.
struct CheckTarget {
  std::filesystem::path file;
  bool is_found = false;  // in a folder; false: the user named it
};

struct CheckTargets {
  std::vector<CheckTarget> files;    // each file once, in the order of the names, folders sorted
  std::vector<std::string> remarks;  // folders that cannot be read
};

// Searches the folders among `named`, and those in them, for .ptx, .cubin, .fatbin, .baton, shared
// libraries, and .toml files that have steps. Links to folders are not followed, and .git is left
// out. Throws kNotFound where a name does not exist, or a folder has none of these files.
CheckTargets find_check_targets(const std::vector<std::filesystem::path>& named);

}  // namespace baton::tools
