#include "tools/draft/draft_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "program/expression_code.h"

namespace baton::tools {
namespace {

// Names by which authors call a number of elements: "n", "num_rows", "size", "width".
bool sounds_like_a_size(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.starts_with('n')) return true;
  constexpr std::string_view kSizes[] = {"size", "len",  "count", "total", "elem",
                                         "dim",  "rows", "cols",  "width", "height"};
  return std::ranges::any_of(
      kSizes, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Whether a program takes the name, perhaps with a suffix: "exp" is that of a function.
bool is_plain(const std::string& name) {
  return !name.empty() && is_identifier(name + "_");
}

}  // namespace

std::string underscored(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

bool is_count(const ParamFacts& param) {
  if (param.size < 4) return false;
  if (param.kind == ParamKind::kInteger) return true;
  return param.kind == ParamKind::kScalar && param.dtype && !is_float(*param.dtype) &&
         *param.dtype != DType::kBool;
}

DraftNames::DraftNames(const std::vector<KernelFacts>& kernels, image::DebugParams param_names)
    : param_names_(std::move(param_names)) {
  const std::string count = name_of_count(kernels);
  if (is_identifier(count) && sounds_like_a_size(count)) size_ = count;
  used_.insert(size_);
}

std::string DraftNames::param(const KernelFacts& kernel, std::size_t index) const {
  const image::DebugParam* const found = find(kernel, index);
  return found != nullptr && is_plain(found->name) ? found->name : "";
}

std::vector<image::DebugField> DraftNames::fields(const KernelFacts& kernel,
                                                  std::size_t index) const {
  const image::DebugParam* const found = find(kernel, index);
  if (found == nullptr) return {};
  const bool are_plain = std::ranges::all_of(found->fields, [](const image::DebugField& field) {
    return is_plain(underscored(field.name));
  });
  return are_plain ? found->fields : std::vector<image::DebugField>();
}

const image::DebugParam* DraftNames::find(const KernelFacts& kernel, std::size_t index) const {
  const auto found = param_names_.find(kernel.name);
  if (found == param_names_.end() || !kernel.params) return nullptr;
  if (found->second.size() != kernel.params->size()) return nullptr;
  return &found->second[index];
}

std::string DraftNames::buffer(std::string_view kernel, const std::string& param,
                               std::size_t index) {
  std::string name = param;
  if (name.empty()) name = fmt::format("{}{}", kernel.empty() ? "p" : "", index);
  if (!kernel.empty()) name = fmt::format("{}_{}", kernel, name);
  if (!is_identifier(name)) name += '_';
  while (!used_.insert(name).second) name += '_';
  return name;
}

// The name of the one count that all kernels have; empty where there are more of them.
std::string DraftNames::name_of_count(const std::vector<KernelFacts>& kernels) const {
  std::set<std::string> names;
  for (const KernelFacts& kernel : kernels) {
    if (!kernel.params) continue;
    std::size_t counts = 0;
    for (std::size_t i = 0; i < kernel.params->size(); ++i) {
      if (!is_count((*kernel.params)[i])) continue;
      names.insert(param(kernel, i));
      ++counts;
    }
    if (counts > 1) return "";
  }
  return names.size() == 1 ? *names.begin() : "";
}

}  // namespace baton::tools
