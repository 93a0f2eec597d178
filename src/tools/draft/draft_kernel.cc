#include "tools/draft/draft_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "baton/compile.h"
#include "baton/device.h"
#include "image/image_content.h"
#include "image/ptx_reach.h"
#include "image/ptx_use.h"
#include "tools/basics.h"
#include "tools/draft/draft_names.h"
#include "tools/draft/parameter_role.h"

namespace baton::tools {
namespace {

std::string_view key_of(ImageKind kind) {
  switch (kind) {
    case ImageKind::kPtx:
      return "ptx";
    case ImageKind::kCubin:
      return "cubin";
    case ImageKind::kFatbin:
      return "fatbin";
  }
  return "ptx";
}

bool is_source(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".cu" || ending == ".cuh" || ending == ".cpp";
}

// What the PTX of a kernel tells; nothing without PTX.
struct KernelUse {
  std::vector<image::ParamUse> params;
  image::Reached reached;
};

KernelUse use_of(const KernelFile& file, const KernelFacts& kernel) {
  if (!file.ptx) return {};
  const auto module = image::ptx_of(*file.ptx);
  const ptx::Function* const function = module->function(kernel.name);
  if (function == nullptr || !function->has_body) return {};
  return {image::param_uses(*function), image::PtxReach(*module).from(*function)};
}

// The elements of CUDA's vector types, such as the "float4" of "float4 const*": "float" has one.
int vector_width(std::string_view type) {
  const std::string_view name = type.substr(0, type.find_first_of(" *"));
  if (name == "__half2" || name == "__nv_bfloat162") return 2;
  static constexpr std::string_view kElements[] = {"char",      "uchar", "short", "ushort",
                                                   "int",       "uint",  "long",  "longlong",
                                                   "ulonglong", "ulong", "float", "double"};
  if (name.empty() || name.back() < '1' || name.back() > '4') return 1;
  const std::string_view element = name.substr(0, name.size() - 1);
  const bool is_vector = std::ranges::find(kElements, element) != std::end(kElements);
  return is_vector ? name.back() - '0' : 1;
}

std::string buffer_line(const std::string& name, const ParamFacts& param,
                        const image::ParamUse* use) {
  const bool is_accessed = use != nullptr && use->element.has_value();
  const DType dtype = param.dtype ? *param.dtype : is_accessed ? *use->element : DType::kF32;
  const std::string_view role = role_of(param, use);
  const int width = vector_width(param.type);
  std::string line =
      fmt::format("{} = {{ dtype = \"{}\", shape = [@{}], role = \"{}\"", name, to_string(dtype),
                  width == 1 ? "" : fmt::format(", {}", width), role);
  if (role != "output") line += ", init = \"random\"";
  line += " }  # " + param.type;
  if (!param.dtype) {
    line += is_accessed ? "; guess: the dtype is that of its first access" : "; guess: the dtype";
  }
  return line;
}

// A scalar: counts are the size, other numbers 1.
std::string scalar_argument(const ParamFacts& param, std::string_view size) {
  if (is_count(param)) return fmt::format("\"{}\"", size);
  return param.dtype && is_float(*param.dtype) ? "1.0" : "1";
}

// An argument in the remark that it is guessed: "n (int)", "argument 3 (int)".
std::string guessed(const std::string& name, std::size_t index, std::string_view type) {
  if (name.empty()) return fmt::format("argument {} ({})", index, type);
  return fmt::format("{} ({})", name, type);
}

// The parameter with the type that launch metadata declares, where the image tells none.
ParamFacts declared(ParamFacts param, const FunctionMetadata::Parameter& parameter) {
  const std::optional<DType> dtype = parameter.type.dtype();
  if (param.kind == ParamKind::kUnknown && parameter.type.code == MetadataType::Code::kHandle &&
      !parameter.tensor_map && param.size == sizeof(DeviceAddress)) {
    param.kind = ParamKind::kPointer;
    param.type = "pointer";
  } else if (param.kind == ParamKind::kUnknown && dtype && size_of(*dtype) == param.size) {
    param.kind = ParamKind::kScalar;
    param.dtype = dtype;
    param.type = to_string(*dtype);
  }
  return param;
}

// A number whose type only launch metadata tells.
std::string typed(const ParamFacts& param, std::string value) {
  return fmt::format("{{ {} = {} }}", to_string(*param.dtype), value);
}

// The argument of a struct by value whose fields are known. Pointers are buffers of their own.
std::string struct_argument(const std::vector<image::DebugField>& fields, const std::string& param,
                            std::string_view prefix, std::size_t index, DraftNames& names,
                            DraftKernel& kernel) {
  std::vector<std::string> values;
  for (const image::DebugField& field : fields) {
    ParamFacts facts;
    facts.size = static_cast<std::uint32_t>(field.size);
    facts.kind = field.is_pointer ? ParamKind::kPointer : ParamKind::kScalar;
    facts.dtype = field.dtype;
    facts.type = fmt::format("field {}{}{}", param, param.empty() ? "" : ".", field.name);
    if (!field.is_pointer) {
      values.push_back(typed(facts, scalar_argument(facts, kernel.size)));
      continue;
    }
    const std::string own = names.buffer(
        prefix, param.empty() ? "" : fmt::format("{}_{}", param, underscored(field.name)), index);
    kernel.buffers.push_back(buffer_line(own, facts, nullptr));
    values.push_back("\"" + own + "\"");
  }
  return fmt::format("{{ struct = [{}] }}", fmt::join(values, ", "));
}

// Launch metadata says itself what the call passes: see `metadata_lines`.
std::vector<LaunchGuess> without_metadata(std::vector<LaunchGuess> guesses) {
  std::vector<LaunchGuess> left;
  for (LaunchGuess& guess : guesses) {
    guess.shared = 0;
    guess.cooperative = false;
    const bool is_new =
        left.empty() || left.back().block != guess.block || left.back().cover != guess.cover;
    if (is_new) left.push_back(guess);
  }
  return left;
}

// The names of parameters are in debug information, which excludes optimisation, so they take a
// compile of their own. A source that does not compile so has no names.
image::DebugParams names_in(Source source, CompileOptions options) {
  source.options.emplace_back("-G");
  if (options.arch.starts_with("sm_")) options.arch.replace(0, 3, "compute_");
  try {
    return image::debug_params(*image::ptx_of(baton::compile(source, options).ptx));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

KernelFile read_kernels(const std::filesystem::path& file, const DraftOptions& options) {
  KernelFile kernels;
  kernels.path =
      std::filesystem::proximate(file, options.folder.empty() ? "." : options.folder).string();
  if (is_source(file)) {
    const std::string arch =
        options.arch.empty() ? Device::open(kDraftDevice).compile_arch() : options.arch;
    const Source source = Source::from_file(file);
    const CompileOptions how = {.arch = arch, .entries = options.entries};
    const Compiled compiled = baton::compile(source, how);
    kernels.key = "source";
    kernels.facts = read_facts(compiled);
    kernels.ptx = compiled.ptx;
    kernels.param_names = names_in(source, how);
  } else {
    const Image image = Image::from_file(file);
    kernels.key = key_of(image.kind());
    kernels.facts = read_facts(image);
    if (image.kind() == ImageKind::kPtx) {
      kernels.ptx = image;
      kernels.param_names = image::debug_params(*image::ptx_of(image));
    }
  }
  if (kernels.facts.kernels.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "{} has no kernel{}; a template needs --entry \"NAME<TYPES>\", and a kernel is "
                "declared __global__",
                file.string(), is_source(file) ? " that is instantiated" : "");
  }
  return kernels;
}

std::string plain_name(const KernelFacts& kernel) {
  std::string_view name = kernel.demangled;
  name = name.substr(0, name.find_first_of("<("));
  if (const auto space = name.rfind("::"); space != std::string_view::npos) {
    name.remove_prefix(space + 2);
  }
  std::string word;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    word += fits ? c : '_';
  }
  if (word.empty() || (word[0] >= '0' && word[0] <= '9')) word = "k" + word;
  return word;
}

DraftKernel draft_kernel(const KernelFile& file, const KernelFacts& facts, const std::string& name,
                         DraftNames& names, const FunctionMetadata* launched) {
  if (!facts.params) {
    throw error(ErrorCode::kInvalidInput, "the image does not tell the parameters of kernel {}",
                printable(facts.name));
  }
  DraftKernel kernel;
  kernel.facts = &facts;
  kernel.name = name;
  kernel.size = names.size();
  kernel.launched = launched;
  const KernelUse use_of_kernel = use_of(file, facts);
  const std::vector<image::ParamUse>& uses = use_of_kernel.params;
  kernel.launches = launch_guesses(facts, use_of_kernel.reached);
  if (launched != nullptr) kernel.launches = without_metadata(std::move(kernel.launches));
  kernel.launch = kernel.launches.front();
  const std::string_view prefix = file.facts.kernels.size() == 1 ? "" : std::string_view(name);
  for (std::size_t i = 0; i < facts.params->size(); ++i) {
    const ParamFacts& image_param = (*facts.params)[i];
    const bool is_map = launched != nullptr && launched->parameters()[i].tensor_map;
    const ParamFacts param =
        launched == nullptr ? image_param : declared(image_param, launched->parameters()[i]);
    const image::ParamUse* const use = i < uses.size() ? &uses[i] : nullptr;
    if (is_map) {
      const std::string own = names.buffer(prefix, names.param(facts, i), i);
      kernel.buffers.push_back(
          fmt::format("{} = {{ dtype = \"f32\", shape = [@], role = \"inout\", init = \"random\" }}"
                      "  # tensor map; guess: all of it",
                      own));
      kernel.arguments.push_back(
          fmt::format("{{ tensor_map = {{ buffer = \"{}\", box = [@] }} }}", own));
      kernel.guesses.push_back(guessed(names.param(facts, i), i, "tensor map"));
      continue;
    }
    switch (param.kind) {
      case ParamKind::kPointer: {
        const std::string own = names.buffer(prefix, names.param(facts, i), i);
        kernel.buffers.push_back(buffer_line(own, param, use));
        kernel.arguments.push_back("\"" + own + "\"");
        break;
      }
      case ParamKind::kScalar:
      case ParamKind::kInteger:
        kernel.arguments.push_back(image_param.kind == ParamKind::kUnknown
                                       ? typed(param, scalar_argument(param, kernel.size))
                                       : scalar_argument(param, kernel.size));
        kernel.guesses.push_back(guessed(names.param(facts, i), i, param.type));
        break;
      case ParamKind::kBytes:
        if (const auto fields = names.fields(facts, i); !fields.empty()) {
          const std::string own = names.param(facts, i);
          kernel.arguments.push_back(struct_argument(fields, own, prefix, i, names, kernel));
          kernel.guesses.push_back(guessed(own, i, param.type));
          break;
        }
        kernel.structs.push_back(guessed(names.param(facts, i), i, param.type));
        [[fallthrough]];
      case ParamKind::kUnknown:
        kernel.arguments.push_back(
            fmt::format("{{ bytes = \"{}\" }}", std::string(2 * std::size_t{param.size}, '0')));
        kernel.guesses.push_back(guessed(names.param(facts, i), i, param.type) +
                                 ", its fields: { struct = [...] }");
        break;
    }
  }
  return kernel;
}

}  // namespace baton::tools
