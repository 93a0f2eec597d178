#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace baton::compiler {

// A folder in which CUDA may lie, and how Baton came to look there, for messages: "CUDA_HOME".
struct SearchPlace {
  std::filesystem::path folder;
  std::string origin;
};

// Where CUDA may lie on this machine, in the order to search.
struct SearchPlaces {
  // Roots, laid out as a toolkit or as NVIDIA's wheels, that come before the loader's path: those
  // chosen by hand, and those of the Python that Baton runs in or is installed for.
  std::vector<SearchPlace> chosen;
  std::vector<SearchPlace> packages;
  // Folders of libraries alone.
  std::vector<SearchPlace> loader;
  // Roots that come after the loader's path.
  std::vector<SearchPlace> customary;
};

// As find_toolkit describes them. Thread-safe as far as getenv is.
SearchPlaces search_places();

// The folders of Python packages of this process, whose NVIDIA wheels are searched. Replaces those
// of an earlier call. Thread-safe.
void set_site_packages(std::vector<std::filesystem::path> folders);

// The folders of Python packages that `file` of an installed package lies below: that of
// "P/baton/_core.so" and of "P/baton/lib/libbaton.so" is P. Those without NVIDIA's wheels are left
// out.
std::vector<std::filesystem::path> packages_around(const std::filesystem::path& file);

}  // namespace baton::compiler
