#include "compile/param_names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "compile/compiler_call.h"
#include "compile/request.h"
#include "image/image_content.h"
#include "image/names/param_types.h"

namespace baton::compiler {
namespace {

// PTX with debug information, or why there is none.
struct DebugCompile {
  std::optional<Image> ptx;
  std::string failure;

  // The PTX of the source of that name.
  std::optional<Image> image(std::string_view source) const {
    if (!ptx)
      log(LogLevel::kInfo, "{}: the names of parameters are not known: {}", source, failure);
    return ptx;
  }
  // The parameters that its debug information describes.
  image::DebugParams params(std::string_view source) const {
    const std::optional<Image> found = image(source);
    return found ? image::debug_params(*image::ptx_of(*found)) : image::DebugParams();
  }
};

DebugCompile with_debug_information(Source source, CompileOptions options) {
  if (!parse_options(source).has_debug) source.options.emplace_back("-G");
  if (options.arch.starts_with("sm_")) options.arch.replace(0, 3, "compute_");
  options.param_names = false;
  try {
    return {compile(source, options).ptx, {}};
  } catch (const Error& failure) {
    return {std::nullopt, failure.message()};
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

// With the instances of templates, too.
DebugCompile compile_all(const Source& source, CompileOptions options, const Compiled& made) {
  add_instances(made, options.entries);
  return with_debug_information(source, std::move(options));
}

// Whether a kernel of it has parameters whose types are not known, such as an extern "C" kernel
// without debug information.
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

// Adds the names and types of parameters that this debug information has to the facts of the
// images. No other copies exist yet.
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

bool declares_with_c_names(std::string_view text) {
  constexpr std::string_view kExtern = "extern";
  for (std::size_t at = 0; (at = text.find(kExtern, at)) != text.npos;) {
    at += kExtern.size();
    const std::size_t next = text.find_first_not_of(" \t", at);
    if (next != text.npos && text.substr(next).starts_with("\"C\"")) return true;
  }
  return false;
}

// Whether debug information will be asked for, for these entries, as far as the text tells. Host
// code launches instances that become entries. A wrong guess costs time, and no result.
bool will_need_debug(const Source& source, DescribedKernels which) {
  if (source.text.find("<<<") != std::string::npos) return false;
  if (which == DescribedKernels::kAll) return true;
  return source.text.find("__global__") != std::string::npos && declares_with_c_names(source.text);
}

// Whether there are instances that the debug information lacks.
bool lacks_instances(const Compiled& made, const CompileOptions& options,
                     const image::DebugParams& params) {
  std::vector<std::string> entries = options.entries;
  add_instances(made, entries);
  if (entries.size() == options.entries.size()) return false;
  return std::ranges::any_of(read_facts(made.ptx).kernels, [&](const KernelFacts& kernel) {
    return kernel.params && !kernel.params->empty() && !params.contains(kernel.name);
  });
}

}  // namespace

std::optional<Image> debug_image(const Source& source, const CompileOptions& options,
                                 const Compiled& made) {
  return compile_all(source, options, made).image(source.name);
}

image::DebugParams debug_params(const Source& source, const CompileOptions& options,
                                const Compiled& made) {
  return compile_all(source, options, made).params(source.name);
}

Compiled compile_described(const Source& source, CompileOptions options, DescribedKernels which) {
  options.param_names = false;
  if (!will_need_debug(source, which)) {
    Compiled made = compile(source, options);
    if (which == DescribedKernels::kAll || lacks_types(made)) {
      take_debug_params(made, debug_params(source, options, made));
    }
    return made;
  }
  CompilerBeside<DebugCompile> beside(
      [source, options] { return with_debug_information(source, options); });
  try {
    Compiled made = compile(source, options);
    if (which == DescribedKernels::kAll || lacks_types(made)) {
      image::DebugParams params = beside.result().params(source.name);
      if (lacks_instances(made, options, params)) params = debug_params(source, options, made);
      take_debug_params(made, params);
    }
    beside.await();
    return made;
  } catch (const Error&) {
    beside.await();  // it fails as soon, and NVRTC leaves signals to the process only at its end
    throw;
  }
}

}  // namespace baton::compiler
