#include "tools/file/check_targets.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "base/file/near_file.h"
#include "base/text/text.h"
#include "tools/process/record_folder.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

// Program files are small; a larger one is another tool's.
constexpr std::uint64_t kMaxProgram = std::uint64_t{16} << 20;

// Packages and tools have .toml files, too. A program has steps.
bool has_steps(const fs::path& file) {
  std::string text;
  try {
    text = read_file(file, kMaxProgram);
  } catch (const Error&) {
    return false;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("[[steps]]") || line.starts_with("[[setup]]")) return true;
    if (line.starts_with("steps") && trim(line.substr(5)).starts_with('=')) return true;
  }
  return false;
}

bool is_wanted(const fs::path& file) {
  constexpr std::string_view kImages[] = {".ptx", ".cubin", ".fatbin", ".so", ".baton"};
  const std::string extension = file.extension().string();
  if (std::find(std::begin(kImages), std::end(kImages), extension) != std::end(kImages)) {
    return true;
  }
  if (extension == ".toml") return has_steps(file);
  // "libgemm.so.1.2"
  return file.filename().string().find(".so.") != std::string::npos &&
         extension.find_first_not_of(".0123456789") == std::string::npos;
}

class TargetSearch {
 public:
  void name(const fs::path& path) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (!fs::exists(status)) {
      const std::string near = file_suggestion(path);
      throw error(ErrorCode::kNotFound, "{} does not exist{}", printable(path.string()),
                  near.empty() ? "; name a file or a folder" : near);
    }
    if (!fs::is_directory(status) || is_record(path)) return add(path, false);
    const std::size_t before = seen_in_folders_;
    folder(path);
    if (seen_in_folders_ == before) {
      throw error(ErrorCode::kNotFound,
                  "{} has no .ptx, .cubin, .fatbin, .so, .baton, or .toml with steps, also in the "
                  "folders below it; name another folder, or the file",
                  printable(path.string()));
    }
  }

  CheckTargets take() { return std::move(targets_); }

 private:
  // One file by several names is checked once.
  void add(const fs::path& path, bool is_found) {
    std::error_code failure;
    const fs::path real = fs::canonical(path, failure);
    if (!known_.insert(failure ? path : real).second) return;
    targets_.files.push_back({path, is_found});
  }

  void folder(const fs::path& root) {
    std::vector<fs::path> found;
    std::vector<fs::path> open = {root};
    while (!open.empty()) {
      const fs::path at = std::move(open.back());
      open.pop_back();
      std::error_code failure;
      fs::directory_iterator entry(at, failure);
      for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        std::error_code unreadable;
        if (entry->is_directory(unreadable)) {
          const bool is_link = entry->is_symlink(unreadable);
          if (is_record(entry->path())) {
            found.push_back(entry->path());
          } else if (!is_link && entry->path().filename() != ".git") {
            open.push_back(entry->path());
          }
        } else if (entry->is_regular_file(unreadable) && is_wanted(entry->path())) {
          found.push_back(entry->path());
        }
      }
      if (failure) {
        targets_.remarks.push_back(fmt::format("the folder {} was not searched: {}",
                                               printable(at.string()), failure.message()));
      }
    }
    std::sort(found.begin(), found.end());
    for (const fs::path& file : found) add(file, true);
    seen_in_folders_ += found.size();
  }

  CheckTargets targets_;
  std::set<fs::path> known_;
  std::size_t seen_in_folders_ = 0;
};

}  // namespace

CheckTargets find_check_targets(const std::vector<fs::path>& named) {
  TargetSearch search;
  for (const fs::path& path : named) search.name(path);
  return search.take();
}

}  // namespace baton::tools
