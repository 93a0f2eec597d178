#include "image/names/param_types.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/text/text.h"
#include "image/names/mangled_name.h"

namespace baton::image {
namespace {

bool agrees(const ParamFacts& param, const SourceType& named) {
  return named.size == 0 || named.size == param.size;
}

void apply(ParamFacts& param, const SourceType& named) {
  if (!named.type.empty()) param.type = named.type;
  param.read_only = named.read_only;
  if (named.kind != ParamKind::kUnknown) {
    param.kind = named.kind;
    param.dtype = named.dtype;
    return;
  }
  // A class or an enumeration: a struct is what its size says, an enumeration an integer.
  if (param.kind == ParamKind::kUnknown && param.size != 1 && param.size != 2 && param.size != 4 &&
      param.size != 8) {
    param.kind = ParamKind::kBytes;
  }
}

}  // namespace

void apply_name(KernelFacts& kernel) {
  kernel.demangled = kernel.name;
  std::optional<MangledName> name = read_mangled(kernel.name);
  if (!name) return;
  kernel.demangled = std::move(name->text);
  if (!name->params || !kernel.params || name->params->size() != kernel.params->size()) return;
  apply_types(kernel, *name->params);
}

bool has_types_in_name(const KernelFacts& kernel) {
  return kernel.demangled.ends_with(')');
}

void apply_types(KernelFacts& kernel, const std::vector<SourceType>& types) {
  std::vector<ParamFacts>& params = *kernel.params;
  if (!std::ranges::equal(params, types, agrees)) return;
  for (std::size_t i = 0; i < params.size(); ++i) apply(params[i], types[i]);
}

std::string_view without_params(std::string_view demangled) {
  int depth = 0;
  for (std::size_t i = demangled.size(); i-- > 0;) {
    if (demangled[i] == ')') ++depth;
    if (demangled[i] == '(' && --depth == 0) return demangled.substr(0, i);
  }
  return demangled;
}

std::string declaration_text(const ParamFacts& param, std::string_view name) {
  // Types of templates can be thousands of characters.
  std::string text =
      param.type.empty() ? fmt::format("{} bytes", param.size) : printable(param.type);
  if (!name.empty()) text += fmt::format(" {}", printable(name));
  return text;
}

std::string describe_type(const ParamFacts& param) {
  switch (param.kind) {
    case ParamKind::kPointer:
      return "pointer";
    case ParamKind::kScalar:
      return std::string(to_string(*param.dtype));
    case ParamKind::kInteger:
      return fmt::format("{}-byte integer", param.size);
    case ParamKind::kUnknown:
    case ParamKind::kBytes:
      break;
  }
  return fmt::format("{} byte{}", param.size, param.size == 1 ? "" : "s");
}

}  // namespace baton::image
