#include "tools/toolkit/ptxas.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/system/environment.h"
#include "compile/nvrtc/search_places.h"
#include "image/container/elf.h"
#include "image/cubin/kept_ptx.h"
#include "tools/file/file_guard.h"
#include "tools/file/files.h"
#include "tools/process/child_process.h"
#include "tools/toolkit/cuda_toolkit.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

// Triton has a ptxas of its own, in its Python package.
std::vector<fs::path> packaged() {
  std::vector<fs::path> found;
  for (const compiler::SearchPlace& place : compiler::search_places().packages) {
    for (fs::path folder = place.folder; folder.has_relative_path();
         folder = folder.parent_path()) {
      if (folder.filename() != "site-packages") continue;
      found.push_back(folder / "triton/backends/nvidia/bin/ptxas");
      break;
    }
  }
  return found;
}

fs::path find_ptxas() {
  if (const auto chosen = read_environment("BATON_PTXAS")) return *chosen;
  std::vector<fs::path> places;
  for (const fs::path& toolkit : toolkit_folders()) places.push_back(toolkit / "bin" / "ptxas");
  for (const fs::path& folder : program_folders()) places.push_back(folder / "ptxas");
  for (fs::path& path : packaged()) places.push_back(std::move(path));
  const auto found = std::find_if(places.begin(), places.end(), is_real_program);
  if (found != places.end()) return *found;
  throw error(
      ErrorCode::kNotFound,
      "there is no ptxas in CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda or Triton's package; "
      "set BATON_PTXAS to one");
}

constexpr std::string_view kShortOutput = "-o";
constexpr std::string_view kLongOutput = "--output-file";

bool names_output(std::string_view word) {
  return word == kShortOutput || word == kLongOutput || word == kLongOutput.substr(1);
}

// The value of an option in any of its spellings: "-o X", "-oX", "--output-file X" or
// "--output-file=X".
std::optional<std::string> output_of(const std::vector<std::string>& arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string_view word = arguments[k];
    const bool has_next = k + 1 < arguments.size();
    if (names_output(word) && has_next) return arguments[k + 1];
    const std::size_t cut = word.find('=');
    if (word.starts_with(kLongOutput) && cut != std::string_view::npos) {
      return std::string(word.substr(cut + 1));
    }
    if (word.starts_with(kShortOutput) && word.size() > kShortOutput.size() &&
        !word.starts_with("-opt") && !word.starts_with("-out")) {
      return std::string(word.substr(kShortOutput.size()));
    }
  }
  return std::nullopt;
}

// The files of PTX among the arguments, but what is written.
std::vector<fs::path> inputs_of(const std::vector<std::string>& arguments) {
  std::vector<fs::path> found;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& word = arguments[k];
    if (word.starts_with("-") || fs::path(word).extension() != ".ptx") continue;
    if (k == 0 || !names_output(arguments[k - 1])) found.emplace_back(word);
  }
  return found;
}

void keep(const fs::path& input, const fs::path& output) {
  const std::string cubin = read_file(output);
  if (!image::ElfFile::has_magic(cubin)) return;
  write_file(output, image::keep_ptx(cubin, read_file(input), output.string()));
}

void link_all(const fs::path& from, const fs::path& to, std::string_view but) {
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path name = entry.path().filename();
    if (name != but) fs::create_symlink(entry.path(), to / name);
  }
}

// Replaces `to` by the file. A hard link takes no room, where the system allows one.
void link_or_copy(const fs::path& from, const fs::path& to) {
  fs::remove(to);
  std::error_code refused;
  fs::create_hard_link(from, to, refused);
  if (refused) fs::copy_file(from, to);
}

}  // namespace

int run_ptxas(const std::vector<std::string>& arguments, const std::atomic<bool>& stop) {
  std::vector<std::string> command = {find_ptxas().string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::vector<fs::path> inputs = inputs_of(arguments);
  const auto output = output_of(arguments);
  FileGuard files;
  files.reads(inputs);
  if (output) files.require("-o " + *output, *output);
  const ProcessEnd end = run_process(command, current_environment(), std::nullopt, stop);
  // Of several inputs nothing says which one the code is of.
  if (end.exit_status() == 0 && inputs.size() == 1 && output) keep(inputs[0], *output);
  return end.exit_status();
}

void write_ptxas_wrapper(const fs::path& path, const fs::path& real) {
  const std::string setting = real.empty() ? "" : "BATON_PTXAS=" + shell_word(real) + " ";
  write_file(path, "#!/bin/sh\n" + std::string(kPtxasWrapperMark) +
                       ": keeps the PTX in the cubin.\n" + setting + "exec " +
                       shell_word(fs::read_symlink("/proc/self/exe")) + " ptxas -- \"$@\"\n");
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                            fs::perms::others_read | fs::perms::others_exec);
}

fs::path make_toolkit(const fs::path& folder, const std::optional<fs::path>& from) try {
  const fs::path toolkit = find_toolkit(from);
  fs::create_directories(folder);
  if (!fs::is_empty(folder)) {
    throw error(ErrorCode::kInvalidInput, "{} is not empty; name a folder that is, or is not there",
                folder.string());
  }
  link_all(toolkit, folder, "bin");
  const fs::path programs = folder / "bin";
  fs::create_directory(programs);
  link_all(toolkit / "bin", programs, "ptxas");
  // nvcc looks beside itself for the others, where its own file is and not a symbolic link to it.
  link_or_copy(fs::canonical(toolkit / "bin" / "nvcc"), programs / "nvcc");
  fs::remove(programs / "nvcc.profile");
  fs::copy_file(toolkit / "bin" / "nvcc.profile", programs / "nvcc.profile");
  write_ptxas_wrapper(programs / "ptxas", toolkit / "bin" / "ptxas");
  return toolkit;
} catch (const fs::filesystem_error& failure) {
  throw error(ErrorCode::kInvalidInput, "the toolkit {} cannot be made: {}: {}", folder.string(),
              failure.path1().string(), failure.code().message());
}

}  // namespace baton::tools
