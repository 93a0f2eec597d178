#include "compile/nvrtc/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/error.h"

namespace baton::compiler {
namespace {

constexpr std::string_view kHostCode =
    "NVRTC compiles the whole file as device code; keep host code out of it with #ifndef "
    "__CUDACC_RTC__, or in a file of its own";

std::string searched_folders(const Request& request) {
  std::vector<std::string> folders;
  for (const auto* list : {&request.parsed.include, &request.toolkit.include}) {
    for (const std::filesystem::path& folder : *list) {
      std::error_code failure;
      const bool is_there = std::filesystem::is_directory(folder, failure);
      folders.push_back(folder.string() + (is_there ? "" : " (no such folder)"));
    }
  }
  return fmt::format(
      "searched for it in the folder of the file that includes it, then in {}; add a "
      "folder with -I or "
      "include = [...]",
      fmt::join(folders, ", "));
}

// The headers that begin with a byte order mark: nvcc's preprocessor skips it.
std::string marked_headers(const Request& request) {
  std::vector<std::string> marked;
  for (const IncludedFile& file : request.scan.files) {
    if (file.begins_with_mark) marked.push_back(file.path.string());
  }
  if (marked.empty()) return {};
  return fmt::format(
      "NVRTC does not read headers that begin with a byte order mark; save without one: {}",
      fmt::join(marked, ", "));
}

struct Hint {
  // All of them stand in the message of the compiler.
  std::vector<std::string_view> parts;
  // Empty where there is nothing to say.
  std::function<std::string(const Request&)> text;
};

std::function<std::string(const Request&)> always(std::string_view what) {
  return [what](const Request&) { return fmt::format("{}: {}", what, kHostCode); };
}

// Messages of the compiler, NVRTC 12.4 to 13.0.
const std::vector<Hint>& hints() {
  static const std::vector<Hint> all = {
      {{"open source file"}, searched_folders},
      {{"open source file \"crt/"},
       [](const Request&) {
         return std::string(
             "CUDA's folder crt is in a Python package of its own: pip install nvidia-cuda-crt, of "
             "the version of nvidia-cuda-runtime");
       }},
      {{"unrecognized token"}, marked_headers},
      {{"namespace \"std\" has no member"},
       always("headers of the host's C++ library (<string>, <vector>, <iostream> and the like) may "
              "be included, but contain nothing for device code")},
      {{"dynamic initialization is not supported", "__device__"},
       always("a variable without a mark is compiled as a __device__ variable, which only "
              "constants can initialise")},
      {{"device code does not support exception handling"},
       always("exceptions exist on the host only")},
      {{"unrecognized option", "extended-lambda"},
       [](const Request&) {
         return std::string(
             "NVRTC has no mode for lambdas with __device__; leave the option out, and Baton reads "
             "them as lambdas without marks");
       }},
      {{"Unresolved extern function", "GetParameterBuffer"},
       [](const Request&) {
         return std::string(
             "a kernel, or a function that a kernel calls, launches kernels by <<<>>>: that needs "
             "CUDA's device runtime, which is not linked");
       }},
  };
  return all;
}

bool is_about(const Hint& hint, const Diagnostic& diagnostic) {
  return diagnostic.severity == Diagnostic::Severity::kError &&
         std::all_of(hint.parts.begin(), hint.parts.end(), [&](std::string_view part) {
           return diagnostic.message.find(part) != std::string::npos;
         });
}

}  // namespace

std::vector<std::string> hints_for(const std::vector<Diagnostic>& diagnostics,
                                   const Request& request) {
  std::vector<std::string> found;
  for (const Hint& hint : hints()) {
    const bool fits = std::any_of(diagnostics.begin(), diagnostics.end(),
                                  [&](const Diagnostic& each) { return is_about(hint, each); });
    const std::string text = fits ? hint.text(request) : std::string();
    if (!text.empty()) found.push_back("hint: " + text);
  }
  return found;
}

}  // namespace baton::compiler
