#include "compile/nvrtc/search_places.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/system/environment.h"
#include "base/text/text.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

// The value of BATON_CUDA_ROOT with which nothing of the system is searched.
constexpr std::string_view kNone = "none";

bool holds_folder(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

std::vector<fs::path> children(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code failed;
  // Its ++ without an error code would throw; what cannot be read is not found.
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::vector<fs::path> split_path(std::string_view list) {
  std::vector<fs::path> folders;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return folders;
}

// A compile searches several times, and one warning about a value is enough.
bool is_first_time(const std::string& root) {
  static std::mutex mutex;
  static std::set<std::string>* const seen = new std::set<std::string>();  // outlives all threads
  const std::lock_guard lock(mutex);
  return seen->insert(root).second;
}

std::vector<SearchPlace> chosen_roots(const std::optional<std::string>& root) {
  if (!root || *root == kNone) return {};
  if (!holds_folder(*root) && is_first_time(*root)) {
    log(LogLevel::kWarning,
        "BATON_CUDA_ROOT is {}, which is not a folder: Baton looks for CUDA elsewhere", *root);
  }
  return {{*root, "BATON_CUDA_ROOT"}};
}

// The file that this code was loaded from: a library, or the program.
fs::path own_file() {
  Dl_info info = {};
  link_map* map = nullptr;
  std::error_code failed;
  const auto* here = reinterpret_cast<const void*>(&own_file);
  if (dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name != nullptr && *map->l_name != '\0') {
    return fs::absolute(map->l_name, failed);
  }
  return fs::read_symlink("/proc/self/exe", failed);
}

struct SitePackages {
  std::mutex mutex;
  std::vector<fs::path> folders;
};

SitePackages& site_packages() {
  // Never destroyed: compiles may run while the process ends.
  static auto& packages = *new SitePackages;
  return packages;
}

std::vector<SearchPlace> package_roots() {
  std::vector<SearchPlace> roots;
  for (fs::path& root : packages_around(own_file())) {
    roots.push_back({std::move(root), "the Python packages beside Baton"});
  }
  std::vector<fs::path> folders;
  {
    const std::lock_guard lock(site_packages().mutex);
    folders = site_packages().folders;
  }
  if (const auto given = read_environment("BATON_SITE_PACKAGES")) {
    for (fs::path& folder : split_path(*given)) folders.push_back(std::move(folder));
  }
  for (fs::path& folder : folders) {
    if (holds_folder(folder / "nvidia")) roots.push_back({std::move(folder), "Python's packages"});
  }
  return roots;
}

// The folders in which the dynamic loader looks: LD_LIBRARY_PATH, those of ld.so.conf, and its own.
std::vector<SearchPlace> loader_folders() {
  std::vector<SearchPlace> folders;
  for (fs::path& folder : split_path(read_environment("LD_LIBRARY_PATH").value_or(""))) {
    folders.push_back({std::move(folder), "LD_LIBRARY_PATH"});
  }
  const std::string origin = "the loader's path";
  for (const fs::path& file : children("/etc/ld.so.conf.d", "")) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const std::string_view folder = trim(line);
      if (folder.starts_with('/')) folders.push_back({folder, origin});
    }
  }
  for (std::string_view folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                  "/usr/lib64", "/usr/lib", "/lib64"}) {
    folders.push_back({folder, origin});
  }
  return folders;
}

std::vector<SearchPlace> customary_roots() {
  std::vector<SearchPlace> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = read_environment(variable)) roots.push_back({*root, variable});
  }
  const std::string system = "the system's folders";
  roots.push_back({"/usr/local/cuda", system});
  for (fs::path& versioned : children("/usr/local", "cuda-")) {
    roots.push_back({std::move(versioned), system});
  }
  roots.push_back({"/opt/cuda", system});
  roots.push_back({"/usr", system});

  // A build folder lies below the project that scripts/setup unpacked the wheels into.
  std::error_code failed;
  fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  constexpr int kLevels = 5;
  for (int level = 0; level < kLevels && !folder.empty(); ++level) {
    roots.push_back({folder / ".deps" / "cuda", "scripts/setup"});
    if (folder == folder.root_path()) break;
    folder = folder.parent_path();
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto prefix = read_environment(variable);
    if (!prefix) continue;
    roots.push_back({*prefix, variable});
    for (const fs::path& python : children(fs::path(*prefix) / "lib", "python3")) {
      roots.push_back({python / "site-packages", variable});
    }
  }
  return roots;
}

}  // namespace

SearchPlaces search_places() {
  const auto root = read_environment("BATON_CUDA_ROOT");
  SearchPlaces places;
  places.chosen = chosen_roots(root);
  places.packages = package_roots();
  if (root == kNone) return places;
  places.loader = loader_folders();
  places.customary = customary_roots();
  return places;
}

void set_site_packages(std::vector<fs::path> folders) {
  const std::lock_guard lock(site_packages().mutex);
  site_packages().folders = std::move(folders);
}

std::vector<fs::path> packages_around(const fs::path& file) {
  // The loader may have come by "P/baton/bin/../lib".
  const fs::path package = file.lexically_normal().parent_path().parent_path();
  std::vector<fs::path> around;
  for (const fs::path& folder : {package, package.parent_path()}) {
    if (holds_folder(folder / "nvidia")) around.push_back(folder);
  }
  return around;
}

}  // namespace baton::compiler
