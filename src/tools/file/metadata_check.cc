#include "tools/file/metadata_check.h"

#include <fmt/core.h>

#include <vector>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "image/names/param_types.h"

namespace baton::tools {
namespace {

std::string type_of(const FunctionMetadata::Parameter& parameter) {
  return parameter.tensor_map ? "tensor map" : parameter.type.name();
}

std::size_t size_of(const FunctionMetadata::Parameter& parameter) {
  constexpr std::size_t kTensorMapBytes = 128;
  return parameter.tensor_map ? kTensorMapBytes : parameter.type.size();
}

void check_block(const FunctionMetadata& function, const KernelFacts& kernel,
                 const std::string& name) {
  if (!kernel.required_block) return;
  const auto& attributes = function.kernel_attributes();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string key = fmt::format("required_block_{}", "xyz"[axis]);
    const auto found = attributes.find(key);
    if (found == attributes.end() || found->second == (*kernel.required_block)[axis]) continue;
    throw error(ErrorCode::kInvalidInput, "function {}: {} is {} in its metadata, {} in {}",
                function.symbol(), key, found->second, (*kernel.required_block)[axis], name);
  }
}

void check(const FunctionMetadata& function, const ImageFacts& image, const std::string& name,
           std::vector<std::string>& remarks) {
  const KernelFacts* kernel = image.kernel(function.symbol());
  if (kernel == nullptr) {
    std::vector<std::string> known;
    for (const KernelFacts& each : image.kernels) known.push_back(each.name);
    throw error(ErrorCode::kNotFound, "the metadata has a function {}, {} has no such kernel{}",
                printable(function.symbol()), name, suggestion(function.symbol(), known));
  }
  check_block(function, *kernel, name);
  if (function.pdl() && kernel->waits == false) {
    remarks.push_back(
        fmt::format("{} is launched with PDL by its metadata and never waits for the "
                    "kernel before it",
                    function.symbol()));
  }
  if (!kernel->params) return;
  const auto parameters = function.parameters();
  if (parameters.size() != kernel->params->size()) {
    throw error(ErrorCode::kInvalidInput,
                "function {}: its metadata has {} parameters, the kernel in {} has {}",
                function.symbol(), parameters.size(), name, kernel->params->size());
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParamFacts& param = (*kernel->params)[i];
    if (size_of(parameters[i]) == param.size) continue;
    throw error(ErrorCode::kInvalidInput,
                "function {}: parameter {} is {} of {} bytes in its metadata, {} of {} bytes in {}",
                function.symbol(), i, type_of(parameters[i]), size_of(parameters[i]),
                image::declaration_text(param, param.name), param.size, name);
  }
}

}  // namespace

void check_metadata(const ModuleMetadata& module, const ImageFacts& image, const std::string& name,
                    std::vector<std::string>& remarks) {
  for (const FunctionMetadata& function : module.functions()) {
    check(function, image, name, remarks);
  }
}

}  // namespace baton::tools
