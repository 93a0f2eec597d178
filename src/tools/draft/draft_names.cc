#include "tools/draft/draft_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "program/expression/expression_code.h"

namespace baton::tools {
namespace {

constexpr std::string_view kUnnamed = "N";

// Whether a program takes the name, perhaps with a suffix: "exp" is that of a function.
bool is_plain(const std::string& name) {
  return !name.empty() && is_identifier(name + "_");
}

// "N" for a name that no program takes.
std::string symbol_of(const std::string& name) {
  if (is_identifier(name)) return name;
  return is_plain(name) ? name + "_" : std::string(kUnnamed);
}

}  // namespace

std::string underscored(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != ']') plain += c == '.' || c == '[' ? '_' : c;
  }
  return plain;
}

bool is_count(const ParamFacts& param, std::string_view name) {
  if (param.size < 4 || sounds_like_a_choice(name)) return false;
  if (param.kind == ParamKind::kInteger) return true;
  return param.kind == ParamKind::kScalar && param.dtype && !is_float(*param.dtype) &&
         *param.dtype != DType::kBool;
}

bool is_count(const image::DebugField& field) {
  if (field.is_pointer || field.size < 4 || !field.dtype) return false;
  return !is_float(*field.dtype) && !sounds_like_a_choice(field.name);
}

DraftNames::DraftNames(const std::vector<KernelFacts>& kernels, image::DebugParams param_names)
    : param_names_(std::move(param_names)) {
  used_.emplace(kUnnamed);
  for (const KernelFacts& kernel : kernels) {
    for_each_count(kernel, [&](const std::string& symbol) { used_.insert(symbol); });
  }
}

template <typename Visit>
void DraftNames::for_each_count(const KernelFacts& kernel, Visit&& visit) const {
  if (!kernel.params) return;
  for (std::size_t i = 0; i < kernel.params->size(); ++i) {
    const bool is_number = is_count((*kernel.params)[i], param(kernel, i));
    if (is_number && !is_texture(kernel, i)) visit(count(kernel, i));
    for (const image::DebugField& field : fields(kernel, i)) {
      if (is_count(field)) visit(count(field));
    }
  }
}

std::string DraftNames::count(const KernelFacts& kernel, std::size_t index) const {
  return symbol_of(param(kernel, index));
}

std::string DraftNames::count(const image::DebugField& field) const {
  const std::size_t dot = field.name.rfind('.');
  return symbol_of(underscored(dot == std::string::npos ? field.name : field.name.substr(dot + 1)));
}

DraftSize DraftNames::size(const KernelFacts& kernel) const {
  std::vector<std::string> counts;
  for_each_count(kernel, [&](const std::string& symbol) {
    if (std::ranges::find(counts, symbol) == counts.end()) counts.push_back(symbol);
  });
  DraftSize size;
  std::ranges::copy_if(counts, std::back_inserter(size.symbols), sounds_like_a_size);
  if (size.symbols.empty()) size.symbols = counts;
  if (size.symbols.empty()) size.symbols.emplace_back(kUnnamed);
  return size;
}

std::string DraftNames::param(const KernelFacts& kernel, std::size_t index) const {
  const image::DebugParam* const found = find(kernel, index);
  return found != nullptr && is_plain(found->name) ? found->name : "";
}

std::uint64_t DraftNames::element_size(const KernelFacts& kernel, std::size_t index) const {
  const image::DebugParam* const found = find(kernel, index);
  return found == nullptr ? 0 : found->element_size;
}

bool DraftNames::is_texture(const KernelFacts& kernel, std::size_t index) const {
  const image::DebugParam* const found = find(kernel, index);
  return found != nullptr && found->is_texture;
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

}  // namespace baton::tools
