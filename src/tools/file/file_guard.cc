#include "tools/file/file_guard.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "baton/bundle.h"
#include "load/kernel_definition.h"
#include "program/reader/input_files.h"
#include "tools/toolkit/depfile.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

void add_headers(const Source& source, std::vector<fs::path>& files) {
  CompileOptions options;
  options.arch = "compute_90";  // plays no role in what is included
  std::ranges::move(included_files(source, options), std::back_inserter(files));
}

std::vector<fs::path> headers_of(const Program& program) {
  std::vector<fs::path> files;
  for (const load::KernelDefinition& definition : load::read_definitions(program)) {
    if (definition.source) add_headers(*definition.source, files);
    for (const LinkInput& input : definition.link) {
      if (const auto* source = std::get_if<Source>(&input)) add_headers(*source, files);
    }
  }
  return files;
}

// Also of files that are not there yet. Devices take any number of outputs.
bool are_one_target(const fs::path& a, const fs::path& b) {
  std::error_code failure;
  if (fs::exists(a, failure)) return is_same_file(a, b);
  const fs::path first = fs::weakly_canonical(a, failure);
  return !failure && first == fs::weakly_canonical(b, failure);
}

}  // namespace

void FileGuard::reads(std::vector<fs::path> files) {
  // All of them are known before the first is refused: nothing may be written to any afterwards.
  std::ranges::move(files, std::back_inserter(inputs_));
  for (const Target& target : targets_) require(target.option, target.file);
}

void FileGuard::reads(const Program& program) {
  reads(input_files(program));
  // The headers take a search, and a new file is none of them.
  if (!replaces_files() || Bundle::is_bundle(program.file())) return;
  std::vector<fs::path> headers;
  try {
    headers = headers_of(program);
  } catch (const Error&) {
    return;  // the command comes to the same error, and writes nothing
  }
  reads(std::move(headers));
}

void FileGuard::reads(const Source& source, const CompileOptions& options) {
  if (replaces_files()) reads(included_files(source, options));
}

bool FileGuard::replaces_files() const {
  return std::ranges::any_of(targets_, [](const Target& target) {
    std::error_code missing;
    return fs::is_regular_file(target.file, missing);
  });
}

void FileGuard::writes(std::string option, fs::path file) {
  require(option, file);
  for (const Target& target : targets_) {
    if (!are_one_target(target.file, file)) continue;
    throw error(ErrorCode::kInvalidInput,
                "{} and {} name one file, and the one would replace the other; name two files",
                target.option, option);
  }
  targets_.push_back({std::move(option), std::move(file)});
}

bool FileGuard::may_write(const fs::path& file) const {
  return std::ranges::none_of(inputs_,
                              [&](const fs::path& input) { return is_same_file(file, input); });
}

void FileGuard::require(const std::string& option, const fs::path& file) const {
  if (may_write(file)) return;
  throw error(ErrorCode::kInvalidInput,
              "{}: the command reads this file, and its output would replace it; name another file",
              option);
}

}  // namespace baton::tools
