#include "tools/draft/draft_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "baton/compile.h"
#include "baton/device.h"
#include "compile/param_names.h"
#include "image/cubin/debug_entries.h"
#include "image/cubin/debug_variables.h"
#include "image/find_variable.h"
#include "image/image_content.h"
#include "image/ptx/ptx_reach.h"
#include "image/ptx/ptx_types.h"
#include "image/ptx/ptx_use.h"
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
  BlockUse block;
};

KernelUse use_of(const KernelFile& file, const KernelFacts& kernel) {
  if (!file.ptx) return {};
  const auto module = image::ptx_of(*file.ptx);
  const ptx::Function* const function = module->function(kernel.name);
  if (function == nullptr || !function->has_body) return {};
  return {image::param_uses(*function), image::PtxReach(*module).from(*function),
          block_use(*function)};
}

// By the debug information, else by what PTX declares: arrays and structs are bytes there.
std::optional<DType> constant_dtype(const VariableFacts& facts, const ptx::Variable& declared,
                                    const image::DebugVariables& types) {
  auto known = types.find(facts.name);
  if (known == types.end()) known = types.find(image::source_name(facts));
  if (known != types.end()) return known->second.value_or(DType::kU8);
  const auto type = image::ptx_type(declared.type);
  if (!type || !declared.extents.empty()) return std::nullopt;
  return type->dtype;
}

// Constant variables without an initialiser. Headers have none.
std::vector<DraftConstant> unfilled_constants(const Image& ptx, const ImageFacts& facts,
                                              const image::DebugVariables& types) {
  const auto module = image::ptx_of(ptx);
  std::vector<DraftConstant> found;
  for (const ptx::TopLevel& item : module->items()) {
    const auto* const variable = std::get_if<ptx::Variable>(&item);
    if (variable == nullptr || variable->space != ptx::StateSpace::kConst) continue;
    if (!variable->initialiser.empty()) continue;
    for (const VariableFacts& each : facts.variables) {
      if (each.name != variable->name) continue;
      found.push_back({each, constant_dtype(each, *variable, types)});
    }
  }
  return found;
}

// An element of CUDA's vector types, and how many there are.
struct VectorElements {
  DType dtype = DType::kF32;
  int count = 1;
};

// Those of the "float4" of "float4 const*"; nothing for "float".
std::optional<VectorElements> vector_elements(std::string_view type) {
  const std::string_view name = type.substr(0, type.find_first_of(" *"));
  if (name == "__half2") return VectorElements{DType::kF16, 2};
  if (name == "__nv_bfloat162") return VectorElements{DType::kBF16, 2};
  static constexpr std::pair<std::string_view, DType> kElements[] = {
      {"char", DType::kI8},       {"uchar", DType::kU8},  {"short", DType::kI16},
      {"ushort", DType::kU16},    {"int", DType::kI32},   {"uint", DType::kU32},
      {"long", DType::kI64},      {"ulong", DType::kU64}, {"longlong", DType::kI64},
      {"ulonglong", DType::kU64}, {"float", DType::kF32}, {"double", DType::kF64}};
  if (name.empty() || name.back() < '1' || name.back() > '4') return std::nullopt;
  const std::string_view element = name.substr(0, name.size() - 1);
  for (const auto& [known, dtype] : kElements) {
    if (element == known) return VectorElements{dtype, name.back() - '0'};
  }
  return std::nullopt;
}

// `element_size`: the bytes of what the pointer leads to, 0 where that is not known.
DraftBuffer buffer_of(const std::string& name, const std::string& param_name,
                      const ParamFacts& param, std::uint64_t element_size,
                      const image::ParamUse* use) {
  const bool is_accessed = use != nullptr && use->element.has_value();
  DraftBuffer buffer;
  buffer.name = name;
  buffer.param = param_name;
  buffer.role = role_of(param, use);
  const std::optional<VectorElements> vector = vector_elements(param.type);
  const std::optional<DType> known = vector ? vector->dtype : param.dtype;
  buffer.dtype = known ? *known : is_accessed ? *use->element : DType::kF32;
  std::uint64_t width = vector ? vector->count : 1;
  if (element_size > 0 && !known) {
    // A struct, as so many elements of its first access.
    if (element_size % size_of(buffer.dtype) != 0) buffer.dtype = DType::kU8;
    width = element_size / size_of(buffer.dtype);
  }
  std::string& line = buffer.definition;
  line = fmt::format("{{ dtype = \"{}\", shape = [@{}], role = \"{}\"", to_string(buffer.dtype),
                     width == 1 ? "" : fmt::format(", {}", width), buffer.role);
  if (buffer.role != "output") line += ", init = \"random\"";
  line += " }  # " + param.type;
  if (!known) {
    line += is_accessed ? "; guess: the dtype is that of its first access" : "; guess: the dtype";
  }
  return buffer;
}

// The value of a number that is not a count.
std::string_view one_of(const std::optional<DType>& dtype) {
  return dtype && is_float(*dtype) ? "1.0" : "1";
}

void add_count(const std::string& symbol, DraftKernel& kernel) {
  if (std::ranges::find(kernel.counts, symbol) == kernel.counts.end()) {
    kernel.counts.push_back(symbol);
  }
}

// A scalar: counts are symbols, other numbers 1.
std::string scalar_argument(const ParamFacts& param, std::size_t index, const DraftNames& names,
                            DraftKernel& kernel) {
  const bool is_number = is_count(param, names.param(*kernel.facts, index));
  if (!is_number) return std::string(one_of(param.dtype));
  const std::string symbol = names.count(*kernel.facts, index);
  add_count(symbol, kernel);
  return fmt::format("\"{}\"", symbol);
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

// Whether a load does not see what number a parameter is, so that the argument says it.
bool needs_type(const KernelFile& file, const KernelFacts& kernel, std::size_t index) {
  const ImageFacts& loaded = file.loaded_facts ? *file.loaded_facts : file.facts;
  const ParamKind kind = loaded.kernel(kernel.name)->params->at(index).kind;
  return kind != ParamKind::kScalar && kind != ParamKind::kInteger;
}

// A number with its type.
std::string typed(DType dtype, std::string_view value) {
  return fmt::format("{{ {} = {} }}", to_string(dtype), value);
}

std::string zeros(std::uint64_t bytes) {
  return fmt::format("{{ bytes = \"{}\" }}", std::string(2 * bytes, '0'));
}

// The argument of a struct by value whose fields are known, each on a line with its name.
class StructDraft {
 public:
  StructDraft(const std::string& param, std::string_view prefix, std::size_t index,
              DraftNames& names, DraftKernel& kernel)
      : param_(param), prefix_(prefix), index_(index), names_(names), kernel_(kernel) {}

  std::string argument(const std::vector<image::DebugField>& fields, std::uint64_t size) {
    for (const image::DebugField& field : fields) {
      const std::uint64_t alignment = alignment_of(field);
      if (align_up(end_, alignment) != field.offset) add_padding(field.offset);
      add(alignment == 1 && field.size > 1 ? zeros(field.size) : value_of(field),
          field.name + (alignment == 1 && field.size > 1 ? ": its bytes" : ""));
      end_ = field.offset + field.size;
      largest_ = std::max(largest_, alignment);
    }
    if (align_up(end_, largest_) != size) add_padding(size);
    return fmt::format("{{ struct = [\n{}] }}", lines_);
  }

 private:
  static std::uint64_t align_up(std::uint64_t at, std::uint64_t alignment) {
    return (at + alignment - 1) / alignment * alignment;
  }

  // That of the value as it is written: a field that is packed is written as bytes.
  static std::uint64_t alignment_of(const image::DebugField& field) {
    const bool is_value = field.is_pointer || field.dtype;
    return is_value && field.offset % field.size == 0 ? field.size : 1;
  }

  void add(const std::string& value, std::string_view name) {
    lines_ += fmt::format("  {},  # {}\n", value, name);
  }

  void add_padding(std::uint64_t end) {
    add(zeros(end - end_), "padding");
    end_ = end;
  }

  std::string value_of(const image::DebugField& field) {
    if (field.is_pointer) return pointer_of(field);
    if (!is_count(field)) return typed(*field.dtype, one_of(field.dtype));
    const std::string symbol = names_.count(field);
    add_count(symbol, kernel_);
    return typed(*field.dtype, "\"" + symbol + "\"");
  }

  // Pointers are buffers of their own.
  std::string pointer_of(const image::DebugField& field) {
    ParamFacts facts;
    facts.size = static_cast<std::uint32_t>(field.size);
    facts.kind = ParamKind::kPointer;
    facts.dtype = field.dtype;
    facts.read_only = field.read_only;
    facts.type = fmt::format("field {}{}{}", param_, param_.empty() ? "" : ".", field.name);
    const std::string name = names_.buffer(
        prefix_, param_.empty() ? "" : fmt::format("{}_{}", param_, underscored(field.name)),
        index_);
    kernel_.buffers.push_back(buffer_of(name, "", facts, 0, nullptr));
    return "\"" + name + "\"";
  }

  const std::string& param_;
  const std::string_view prefix_;
  const std::size_t index_;
  DraftNames& names_;
  DraftKernel& kernel_;
  std::string lines_;
  std::uint64_t end_ = 0, largest_ = 1;
};

// Launch metadata says itself what the call passes: see `metadata_lines`.
std::vector<LaunchGuess> by_metadata(std::vector<LaunchGuess> guesses,
                                     const FunctionMetadata& launched) {
  std::vector<LaunchGuess> left;
  for (LaunchGuess& guess : guesses) {
    guess.shared = 0;
    guess.cooperative = launched.cooperative();
    const bool is_new = left.empty() || left.back().block != guess.block ||
                        left.back().cover != guess.cover || left.back().tile != guess.tile;
    if (is_new) left.push_back(guess);
  }
  return left;
}

}  // namespace

KernelFile read_kernels(const std::filesystem::path& file, const DraftOptions& options) {
  KernelFile kernels;
  image::DebugVariables variables;
  const auto read_debug_information = [&](const Image& ptx) {
    const auto module = image::ptx_of(ptx);
    const image::DebugEntries entries(*module);
    kernels.param_names = image::debug_params(entries);
    variables = image::debug_variables(entries);
  };
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
    if (const auto debug = compiler::debug_image(source, how, compiled)) {
      read_debug_information(*debug);
    }
    kernels.loaded_facts = kernels.facts;
    image::take_params(kernels.facts, kernels.param_names);
  } else {
    const char* const unused = !options.entries.empty() ? "--entry"
                               : !options.arch.empty()  ? "--arch"
                                                        : nullptr;
    if (unused != nullptr) {
      throw error(ErrorCode::kInvalidInput,
                  "{} is an image, whose kernels are made already; leave {} out", file.string(),
                  unused);
    }
    const Image image = Image::from_file(file);
    kernels.key = key_of(image.kind());
    kernels.facts = read_facts(image);
    if (image.kind() == ImageKind::kPtx) {
      kernels.ptx = image;
      read_debug_information(image);
    }
  }
  if (kernels.ptx) kernels.constants = unfilled_constants(*kernels.ptx, kernels.facts, variables);
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
  kernel.size = names.size(facts);
  kernel.launched = launched;
  const KernelUse use_of_kernel = use_of(file, facts);
  const std::vector<image::ParamUse>& uses = use_of_kernel.params;
  kernel.launches = launch_guesses(facts, use_of_kernel.reached, use_of_kernel.block);
  if (launched != nullptr) kernel.launches = by_metadata(std::move(kernel.launches), *launched);
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
          {own, names.param(facts, i), "inout",
           "{ dtype = \"f32\", shape = [@], role = \"inout\", init = \"random\" }"
           "  # tensor map; guess: all of it"});
      kernel.arguments.push_back(
          fmt::format("{{ tensor_map = {{ buffer = \"{}\", box = [@] }} }}", own));
      kernel.guesses.push_back(guessed(names.param(facts, i), i, "tensor map"));
      continue;
    }
    if (names.is_texture(facts, i)) {
      kernel.arguments.emplace_back("{ u64 = 0 }");
      kernel.textures.push_back(guessed(names.param(facts, i), i, "texture"));
      continue;
    }
    switch (param.kind) {
      case ParamKind::kPointer: {
        const std::string own = names.buffer(prefix, names.param(facts, i), i);
        kernel.buffers.push_back(
            buffer_of(own, names.param(facts, i), param, names.element_size(facts, i), use));
        kernel.arguments.push_back("\"" + own + "\"");
        break;
      }
      case ParamKind::kScalar:
      case ParamKind::kInteger:
        kernel.arguments.push_back(scalar_argument(param, i, names, kernel));
        if (param.dtype && needs_type(file, facts, i)) {
          kernel.arguments.back() = typed(*param.dtype, kernel.arguments.back());
        }
        kernel.guesses.push_back(guessed(names.param(facts, i), i, param.type));
        break;
      case ParamKind::kBytes:
        if (const auto fields = names.fields(facts, i); !fields.empty()) {
          const std::string own = names.param(facts, i);
          kernel.arguments.push_back(
              StructDraft(own, prefix, i, names, kernel).argument(fields, param.size));
          kernel.guesses.push_back(guessed(own, i, param.type));
          break;
        }
        kernel.structs.push_back(guessed(names.param(facts, i), i, param.type));
        [[fallthrough]];
      case ParamKind::kUnknown:
        kernel.arguments.push_back(zeros(param.size));
        kernel.guesses.push_back(guessed(names.param(facts, i), i, param.type) +
                                 ", its fields: { struct = [...] }");
        break;
    }
  }
  return kernel;
}

}  // namespace baton::tools
