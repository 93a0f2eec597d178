#include "base/file/near_file.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text/suggest.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

// A folder with more entries is read so far: a message must not take long.
constexpr std::size_t kMostEntries = 4096;
// Files that differ in their extensions alone. More of them do not help.
constexpr std::size_t kMostOfOneStem = 3;

bool is_there(const fs::path& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

std::vector<fs::path> names_in(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code failure;
  fs::directory_iterator entry(folder.empty() ? "." : folder, failure);
  for (; !failure && entry != fs::directory_iterator() && names.size() < kMostEntries;
       entry.increment(failure)) {
    names.push_back(entry->path().filename());
  }
  std::ranges::sort(names);  // the order of a folder is that of the file system
  return names;
}

// The names near to `name`: of the files with its extension the one with the nearest stem, else
// those with its stem. "x.npy" is not near "y.npy".
std::vector<fs::path> near_names(const fs::path& name, const std::vector<fs::path>& names) {
  std::vector<std::string> stems;
  std::vector<fs::path> of_the_stem;
  for (const fs::path& each : names) {
    if (each.extension() == name.extension()) stems.push_back(each.stem().string());
    if (each.stem() == name.stem()) of_the_stem.push_back(each);
  }
  const std::vector<std::string_view> views(stems.begin(), stems.end());
  if (const std::string_view near = nearest(name.stem().string(), views); !near.empty()) {
    return {std::string(near) + name.extension().string()};
  }
  if (of_the_stem.size() > kMostOfOneStem) of_the_stem.clear();
  return of_the_stem;
}

}  // namespace

std::string file_suggestion(const fs::path& missing) {
  fs::path folder;
  auto part = missing.begin();
  for (; part != missing.end() && is_there(folder / *part); ++part) folder /= *part;
  if (part == missing.end()) return {};
  const fs::path name = *part;
  fs::path rest;
  for (++part; part != missing.end(); ++part) rest /= *part;

  std::string text;
  for (const fs::path& near : near_names(name, names_in(folder))) {
    const fs::path whole = rest.empty() ? folder / near : folder / near / rest;
    if (!is_there(whole)) continue;
    text += (text.empty() ? "; did you mean \"" : "\" or \"") + whole.string();
  }
  return text.empty() ? text : text + "\"?";
}

}  // namespace baton
