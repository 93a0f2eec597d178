#include "compile/param_names.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "compile/request.h"
#include "image/image_content.h"

namespace baton::compiler {
namespace {

std::optional<Image> with_debug_information(Source source, CompileOptions options) {
  if (!parse_options(source).has_debug) source.options.emplace_back("-G");
  if (options.arch.starts_with("sm_")) options.arch.replace(0, 3, "compute_");
  options.param_names = false;
  try {
    return compile(source, options).ptx;
  } catch (const Error& failure) {
    log(LogLevel::kInfo, "{}: the names of parameters are not known: {}", source.name,
        failure.message());
    return std::nullopt;
  }
}

}  // namespace

image::DebugParams debug_params(Source source, CompileOptions options) {
  const std::optional<Image> ptx = with_debug_information(std::move(source), std::move(options));
  return ptx ? image::debug_params(*image::ptx_of(*ptx)) : image::DebugParams();
}

std::vector<ParamNames> param_names(const Source& source, const CompileOptions& options) {
  const std::optional<Image> ptx = with_debug_information(source, options);
  if (!ptx) return {};
  std::vector<ParamNames> found;
  for (const KernelFacts& kernel : read_facts(*ptx).kernels) {
    if (!kernel.params) continue;
    ParamNames& own = found.emplace_back();
    own.kernel = kernel.name;
    for (const ParamFacts& param : *kernel.params) own.names.push_back(param.name);
  }
  return found;
}

}  // namespace baton::compiler
