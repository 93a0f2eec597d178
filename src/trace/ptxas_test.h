#pragma once

// For tests: the CUDA toolkit's assembler, where it is installed.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace baton::trace {

inline std::optional<std::filesystem::path> find_ptxas() {
  std::string folders = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* set = std::getenv(home)) folders.append(":").append(set).append("/bin");
  }
  folders += ":/usr/local/cuda/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    std::filesystem::path file =
        std::filesystem::path(folders.substr(begin, end - begin)) / "ptxas";
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

// What the assembler says of PTX for its own target: whether it took it, and its messages.
inline std::pair<bool, std::string> assemble(const std::filesystem::path& ptxas,
                                             const std::string& ptx, const std::string& target,
                                             const std::string& options) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("baton_ptxas_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "k.ptx") << ptx;
  const std::string command = ptxas.string() + " " + options + " -arch=" + target + " -o " +
                              (folder / "k.cubin").string() + " " + (folder / "k.ptx").string() +
                              " > " + (folder / "log").string() + " 2>&1";
  const bool taken = std::system(command.c_str()) == 0;
  std::ifstream log(folder / "log");
  std::string text{std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>()};
  std::filesystem::remove_all(folder);
  return {taken, std::move(text)};
}

}  // namespace baton::trace
