#include "compile/nvrtc/toolkit.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/system/dynamic_library.h"
#include "base/system/environment.h"
#include "compile/nvrtc/search_places.h"

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
// What those leave out: CCCL (cuda/std, cooperative groups' needs) has a folder of its own, and in
// NVIDIA's wheels of CUDA 12 the folder crt comes with the compiler.
constexpr std::string_view kOtherFolders[] = {"cccl", "../../cuda_cccl/include",
                                              "../../cuda_nvcc/include"};
// Of each folder that CUDA's headers include from, one file.
constexpr std::string_view kNeededHeaders[] = {"crt/host_defines.h", "nv/target"};

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

bool is_folder(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

// One of NVRTC that some library of this process has loaded, such as PyTorch: two of one version
// would be two times 140 MB, and two versions must not meet.
std::optional<SearchPlace> loaded_nvrtc() {
  for (std::string_view name : kNvrtcNames) {
    const auto library = DynamicLibrary::loaded(std::string(name));
    if (library && is_file(library->path())) return {{library->path(), "loaded in this process"}};
  }
  return std::nullopt;
}

void add_libraries(std::vector<SearchPlace>& into, const std::vector<SearchPlace>& roots) {
  for (const SearchPlace& root : roots) {
    for (std::string_view below : kLibraryFolders) {
      into.push_back({root.folder / below, root.origin});
    }
  }
}

template <std::size_t N>
std::optional<SearchPlace> find_library(const std::vector<SearchPlace>& places,
                                        const std::string_view (&names)[N]) {
  for (const SearchPlace& place : places) {
    for (std::string_view name : names) {
      if (is_file(place.folder / name)) return {{place.folder / name, place.origin}};
    }
  }
  return std::nullopt;
}

bool holds_headers(const fs::path& folder) {
  return is_file(folder / "cuda_fp16.h");
}

std::vector<fs::path> with_others(const fs::path& folder) {
  std::vector<fs::path> include = {folder};
  for (std::string_view below : kOtherFolders) {
    fs::path other = (folder / below).lexically_normal();
    if (is_folder(other)) include.push_back(std::move(other));
  }
  return include;
}

void find_headers(Toolkit& toolkit, const std::vector<SearchPlace>& roots) {
  // The headers that came with NVRTC fit it best.
  std::vector<SearchPlace> candidates;
  if (toolkit.nvrtc) {
    std::error_code failed;
    for (const fs::path& file : {*toolkit.nvrtc, fs::canonical(*toolkit.nvrtc, failed)}) {
      const fs::path above = file.parent_path().parent_path();
      candidates.push_back({above / "include", "beside NVRTC"});
      candidates.push_back({above.parent_path() / "cuda_runtime" / "include", "beside NVRTC"});
    }
  }
  for (const SearchPlace& root : roots) {
    for (std::string_view below : kHeaderFolders) {
      candidates.push_back({root.folder / below, root.origin});
    }
  }
  for (const SearchPlace& candidate : candidates) {
    if (!holds_headers(candidate.folder)) continue;
    std::vector<fs::path> include = with_others(candidate.folder);
    const bool complete = missing_headers(include).empty();
    if (!complete && !toolkit.include.empty()) continue;
    toolkit.include = std::move(include);
    toolkit.include_origin = candidate.origin;
    if (complete) return;
  }
}

void find_nvrtc(Toolkit& toolkit, const SearchPlaces& places,
                const std::vector<SearchPlace>& roots) {
  if (const auto chosen = read_environment("BATON_NVRTC")) {
    toolkit.searched.push_back("BATON_NVRTC=" + *chosen);
    toolkit.nvrtc_origin = "BATON_NVRTC";
    if (is_file(*chosen)) toolkit.nvrtc = *chosen;
    return;
  }
  std::vector<SearchPlace> before;
  add_libraries(before, places.chosen);
  std::vector<SearchPlace> after;
  add_libraries(after, places.packages);
  after.insert(after.end(), places.loader.begin(), places.loader.end());
  add_libraries(after, places.customary);
  auto found = find_library(before, kNvrtcNames);
  if (!found) found = loaded_nvrtc();
  if (!found) found = find_library(after, kNvrtcNames);
  if (found) {
    toolkit.nvrtc = found->folder;
    toolkit.nvrtc_origin = found->origin;
  }
  if (!places.loader.empty()) toolkit.searched.emplace_back("the loader's path");
  // A folder may be named by several variables.
  for (const SearchPlace& root : roots) {
    std::vector<std::string>& searched = toolkit.searched;
    const std::string folder = root.folder.string();
    const bool known = std::find(searched.begin(), searched.end(), folder) != searched.end();
    if (!known) searched.push_back(folder);
  }
}

void find_nvjitlink(Toolkit& toolkit, const SearchPlaces& places) {
  if (const auto chosen = read_environment("BATON_NVJITLINK")) {
    if (is_file(*chosen)) toolkit.nvjitlink = *chosen;
    return;
  }
  std::vector<SearchPlace> libraries;
  add_libraries(libraries, places.chosen);
  add_libraries(libraries, places.packages);
  libraries.insert(libraries.end(), places.loader.begin(), places.loader.end());
  add_libraries(libraries, places.customary);
  if (const auto found = find_library(libraries, kNvjitlinkNames))
    toolkit.nvjitlink = found->folder;
}

}  // namespace

Toolkit find_toolkit() {
  const SearchPlaces places = search_places();
  std::vector<SearchPlace> roots = places.chosen;
  roots.insert(roots.end(), places.packages.begin(), places.packages.end());
  roots.insert(roots.end(), places.customary.begin(), places.customary.end());
  Toolkit toolkit;
  find_nvrtc(toolkit, places, roots);
  find_nvjitlink(toolkit, places);
  find_headers(toolkit, roots);
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

std::vector<std::string_view> missing_headers(const std::vector<fs::path>& include) {
  std::vector<std::string_view> missing;
  for (std::string_view header : kNeededHeaders) {
    const bool found = std::any_of(include.begin(), include.end(), [&](const fs::path& folder) {
      return is_file(folder / header);
    });
    if (!found) missing.push_back(header);
  }
  return missing;
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
