#include "tools/toolkit/depfile.h"

#include <set>

#include "compile/request.h"

namespace baton::tools {
namespace {

// As both take it: a blank and "#" with a backslash before them, "$" twice.
std::string rule_path(const std::filesystem::path& path) {
  std::string text;
  for (const char c : std::filesystem::absolute(path).lexically_normal().string()) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

}  // namespace

std::vector<std::filesystem::path> included_files(const Source& source,
                                                  const CompileOptions& options) {
  std::vector<std::filesystem::path> files;
  for (const auto& included : compiler::make_request(source, options).scan.files) {
    if (!included.is_cuda && !included.path.empty()) files.push_back(included.path);
  }
  return files;
}

std::string depfile(const std::filesystem::path& target, const std::filesystem::path& file,
                    const Source& source, const CompileOptions& options) {
  std::set<std::string> inputs = {rule_path(file)};
  for (const std::filesystem::path& included : included_files(source, options)) {
    inputs.insert(rule_path(included));
  }
  std::string rule = rule_path(target) + ":";
  for (const std::string& input : inputs) rule += " \\\n  " + input;
  return rule + "\n";
}

}  // namespace baton::tools
