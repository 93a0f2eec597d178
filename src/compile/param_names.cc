#include "compile/param_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "compile/request.h"
#include "image/image_content.h"
#include "image/names/param_types.h"

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

// Entries for the instances of templates that the source itself makes. With debug information the
// compiler leaves out those that only hidden host code launches.
void add_instances(const Compiled& made, std::vector<std::string>& entries) {
  for (const KernelFacts& kernel : read_facts(made.ptx).kernels) {
    const std::string_view name = image::without_params(kernel.demangled);
    // Parentheses: of "(anonymous namespace)" and of lambdas, which no entry can name.
    const bool is_nameable = name.ends_with('>') && name.find('(') == name.npos;
    if (is_nameable && std::ranges::find(entries, name) == entries.end()) {
      entries.emplace_back(name);
    }
  }
}

}  // namespace

std::optional<Image> debug_image(Source source, CompileOptions options, const Compiled& made) {
  add_instances(made, options.entries);
  return with_debug_information(std::move(source), std::move(options));
}

image::DebugParams debug_params(Source source, CompileOptions options, const Compiled& made) {
  const std::optional<Image> ptx = debug_image(std::move(source), std::move(options), made);
  return ptx ? image::debug_params(*image::ptx_of(*ptx)) : image::DebugParams();
}

bool lacks_types(const Compiled& compiled) {
  const auto is_unknown = [](const ParamFacts& param) {
    const bool is_told_by_use = param.kind == ParamKind::kScalar || param.kind == ParamKind::kBytes;
    return !is_told_by_use && param.type == image::describe_type(param);
  };
  return std::ranges::any_of(image::shared_facts(compiled.ptx)->kernels,
                             [&](const KernelFacts& kernel) {
                               return !image::has_types_in_name(kernel) && kernel.params &&
                                      std::ranges::any_of(*kernel.params, is_unknown);
                             });
}

void take_debug_params(const Compiled& compiled, const image::DebugParams& params) {
  if (params.empty()) return;
  const auto add = [&](const Image& image) {
    ImageFacts facts = read_facts(image);
    image::take_params(facts, params);
    image::ImageContent::keep_facts(image, std::move(facts));
  };
  add(compiled.ptx);
  if (compiled.cubin) add(*compiled.cubin);
}

}  // namespace baton::compiler
