#include "tools/toolkit/cuda_toolkit.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/file/file.h"
#include "base/system/environment.h"
#include "tools/process/child_process.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

bool is_wrapper(const fs::path& path) {
  try {
    constexpr std::uint64_t kMost = 4096;
    return fs::file_size(path) < kMost &&
           read_file(path).find(kPtxasWrapperMark) != std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

// nvcc reads nvcc.profile beside itself, which no script that calls nvcc has.
bool is_toolkit(const fs::path& folder) {
  const fs::path programs = folder / "bin";
  return is_real_program(programs / "ptxas") && is_real_program(programs / "nvcc") &&
         fs::exists(programs / "nvcc.profile");
}

std::string output_of(const std::string& command) {
  const auto close = [](std::FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::string text;
  char part[4096];
  while (pipe) {
    const std::size_t count = std::fread(part, 1, sizeof part, pipe.get());
    if (count == 0) break;
    text.append(part, count);
  }
  return text;
}

// The toolkit whose nvcc a program calls, as `nvcc --dryrun` says: "#$ _HERE_=/usr/local/cuda/bin".
std::optional<fs::path> toolkit_of(const fs::path& nvcc) {
  constexpr std::string_view kHere = "#$ _HERE_=";
  const std::string said =
      output_of(shell_word(nvcc) + " --dryrun -E -x cu /dev/null 2>&1 </dev/null");
  const std::size_t at = said.find(kHere);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + kHere.size();
  return fs::path(said.substr(begin, said.find('\n', at) - begin)).parent_path();
}

// The folder itself where it is a toolkit, or the one that its script calls.
std::optional<fs::path> resolve(const fs::path& folder) {
  if (is_toolkit(folder)) return fs::canonical(folder);
  const fs::path nvcc = folder / "bin" / "nvcc";
  if (!is_real_program(nvcc)) return std::nullopt;
  const std::optional<fs::path> called = toolkit_of(nvcc);
  if (called && is_toolkit(*called)) return fs::canonical(*called);
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> program_folders() {
  std::vector<fs::path> folders;
  const std::string path = read_environment("PATH").value_or("");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    if (end > at) folders.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  return folders;
}

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto folder = read_environment(variable)) found.emplace_back(*folder);
  }
  for (const fs::path& folder : program_folders()) {
    std::error_code failure;
    const fs::path nvcc = fs::canonical(folder / "nvcc", failure);
    if (!failure) found.push_back(nvcc.parent_path().parent_path());
  }
  found.emplace_back("/usr/local/cuda");
  return found;
}

bool is_real_program(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure) && !is_wrapper(path);
}

fs::path find_toolkit(const std::optional<fs::path>& from) {
  if (from) {
    if (const auto toolkit = resolve(*from)) return *toolkit;
    throw error(ErrorCode::kNotFound, "{} has no bin/nvcc and bin/ptxas of a CUDA toolkit",
                from->string());
  }
  for (const fs::path& folder : toolkit_folders()) {
    if (const auto toolkit = resolve(folder)) return *toolkit;
  }
  throw error(ErrorCode::kNotFound,
              "there is no CUDA toolkit in CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda; name one "
              "with --from");
}

}  // namespace baton::tools
