#include "compile/nvrtc/toolkit.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

// Newest first: each is the soname of a major version whose interface Baton knows.
constexpr std::string_view kNvrtcNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr std::string_view kNvjitlinkNames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};

// Where libraries and headers lie below a root: in a toolkit, in a distribution's packages, and in
// NVIDIA's wheels of CUDA 13 and of CUDA 12.
constexpr std::string_view kLibraryFolders[] = {
    "lib64",
    "lib",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
    "nvidia/cu13/lib",
    "nvidia/cuda_nvrtc/lib",
    "nvidia/nvjitlink/lib",
};
constexpr std::string_view kHeaderFolders[] = {
    "include",
    "targets/x86_64-linux/include",
    "targets/sbsa-linux/include",
    "nvidia/cu13/include",
    "nvidia/cuda_runtime/include",
};
// What those leave out: CCCL (cuda/std, cooperative groups' needs) has a folder of its own.
constexpr std::string_view kCcclFolders[] = {"cccl", "../../cuda_cccl/include"};

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

bool is_folder(const fs::path& path) {
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

// The folders in which the dynamic loader looks: LD_LIBRARY_PATH, those of ld.so.conf, and its own.
std::vector<fs::path> loader_folders() {
  std::vector<fs::path> folders;
  if (const auto path = read_environment("LD_LIBRARY_PATH")) {
    std::string_view rest = *path;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const fs::path& file : children("/etc/ld.so.conf.d", "")) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const std::string_view folder = trim(line);
      if (folder.starts_with('/')) folders.emplace_back(folder);
    }
  }
  for (std::string_view folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                  "/usr/lib64", "/usr/lib", "/lib64"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

// Roots chosen by hand come before the loader's path, those found by custom after it.
std::vector<fs::path> chosen_roots() {
  const auto root = read_environment("BATON_CUDA_ROOT");
  if (!root) return {};
  std::error_code failed;
  if (!fs::is_directory(*root, failed)) {
    log(LogLevel::kWarning,
        "BATON_CUDA_ROOT is {}, which is not a folder: Baton looks for CUDA elsewhere", *root);
  }
  return {*root};
}

std::vector<fs::path> customary_roots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = read_environment(variable)) roots.emplace_back(*root);
  }
  roots.emplace_back("/usr/local/cuda");
  for (fs::path& versioned : children("/usr/local", "cuda-")) roots.push_back(std::move(versioned));
  roots.emplace_back("/opt/cuda");
  roots.emplace_back("/usr");

  // A build folder lies below the project that scripts/setup unpacked the wheels into.
  std::error_code failed;
  fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  constexpr int kLevels = 5;
  for (int level = 0; level < kLevels && !folder.empty(); ++level) {
    roots.push_back(folder / ".deps" / "cuda");
    if (folder == folder.root_path()) break;
    folder = folder.parent_path();
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto prefix = read_environment(variable);
    if (!prefix) continue;
    roots.emplace_back(*prefix);
    for (const fs::path& python : children(fs::path(*prefix) / "lib", "python3")) {
      roots.push_back(python / "site-packages");
    }
  }
  return roots;
}

void add_libraries(std::vector<fs::path>& into, const std::vector<fs::path>& roots) {
  for (const fs::path& root : roots) {
    for (std::string_view below : kLibraryFolders) into.push_back(root / below);
  }
}

template <std::size_t N>
std::optional<fs::path> find_library(const std::vector<fs::path>& folders,
                                     const std::string_view (&names)[N]) {
  for (const fs::path& folder : folders) {
    for (std::string_view name : names) {
      if (is_file(folder / name)) return folder / name;
    }
  }
  return std::nullopt;
}

bool holds_headers(const fs::path& folder) {
  return is_file(folder / "cuda_fp16.h");
}

std::vector<fs::path> with_cccl(const fs::path& folder) {
  std::vector<fs::path> include = {folder};
  for (std::string_view below : kCcclFolders) {
    fs::path cccl = (folder / below).lexically_normal();
    if (is_folder(cccl)) include.push_back(std::move(cccl));
  }
  return include;
}

std::vector<fs::path> find_headers(const std::optional<fs::path>& nvrtc,
                                   const std::vector<fs::path>& roots) {
  // The headers that came with NVRTC fit it best.
  std::vector<fs::path> candidates;
  if (nvrtc) {
    std::error_code failed;
    for (const fs::path& file : {*nvrtc, fs::canonical(*nvrtc, failed)}) {
      const fs::path above = file.parent_path().parent_path();
      candidates.push_back(above / "include");
      candidates.push_back(above.parent_path() / "cuda_runtime" / "include");
    }
  }
  for (const fs::path& root : roots) {
    for (std::string_view below : kHeaderFolders) candidates.push_back(root / below);
  }
  for (const fs::path& candidate : candidates) {
    if (holds_headers(candidate)) return with_cccl(candidate);
  }
  return {};
}

}  // namespace

Toolkit find_toolkit() {
  Toolkit toolkit;
  std::vector<fs::path> roots = chosen_roots();
  std::vector<fs::path> libraries;
  add_libraries(libraries, roots);
  for (fs::path& folder : loader_folders()) libraries.push_back(std::move(folder));
  const std::vector<fs::path> customary = customary_roots();
  add_libraries(libraries, customary);
  roots.insert(roots.end(), customary.begin(), customary.end());

  if (const auto chosen = read_environment("BATON_NVRTC")) {
    toolkit.searched.push_back("BATON_NVRTC=" + *chosen);
    if (is_file(*chosen)) toolkit.nvrtc = *chosen;
  } else {
    toolkit.nvrtc = find_library(libraries, kNvrtcNames);
    toolkit.searched.emplace_back("the loader's path");
    // A folder may be named by several variables.
    for (const fs::path& root : roots) {
      std::vector<std::string>& searched = toolkit.searched;
      const bool known =
          std::find(searched.begin(), searched.end(), root.string()) != searched.end();
      if (!known) searched.push_back(root.string());
    }
  }
  if (const auto chosen = read_environment("BATON_NVJITLINK")) {
    if (is_file(*chosen)) toolkit.nvjitlink = *chosen;
  } else {
    toolkit.nvjitlink = find_library(libraries, kNvjitlinkNames);
  }
  toolkit.include = find_headers(toolkit.nvrtc, roots);
  return toolkit;
}

const fs::path& require_nvrtc(const Toolkit& toolkit) {
  if (toolkit.nvrtc) return *toolkit.nvrtc;
  Error missing = error(ErrorCode::kNotFound,
                        "NVRTC, which compiles CUDA source, is not installed; in a virtual "
                        "environment of Python run: pip install {}; or install a CUDA toolkit, or "
                        "name the library in BATON_NVRTC",
                        kWheels);
  for (const std::string& place : toolkit.searched) missing.note("searched: " + place);
  throw missing;
}

std::string header_version(const Toolkit& toolkit) {
  for (const fs::path& folder : toolkit.include) {
    std::ifstream in(folder / "cuda.h");
    constexpr int kLines = 400;
    std::string line;
    for (int i = 0; i < kLines && std::getline(in, line); ++i) {
      constexpr std::string_view kDefine = "#define CUDA_VERSION ";
      if (!line.starts_with(kDefine)) continue;
      const int version = std::atoi(line.c_str() + kDefine.size());
      return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
  }
  return {};
}

}  // namespace baton::compiler
