#include "tools/program_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "baton/compile.h"
#include "baton/device.h"
#include "baton/executable.h"
#include "baton/image.h"
#include "driver/finding_kind.h"
#include "image/image_content.h"
#include "image/ptx_reach.h"
#include "image/ptx_use.h"
#include "tools/basics.h"
#include "tools/launch_guess.h"
#include "tools/parameter_role.h"
#include "tools/readable_names.h"

namespace baton::tools {
namespace {

constexpr std::string_view kTrialDevice = "sim:h200";
constexpr std::chrono::seconds kTrialLimit{20};
// The time of all trials of one kernel, after which no further guess is tried.
constexpr std::chrono::seconds kTrialsLimit{30};

// Guesses for what a call by launch metadata passes.
constexpr std::uint32_t kDynamicShared = 16384;

// N by the extent of buffers: in the draft, and in trials. Each extent has a trial whose value is
// smaller than a block and no multiple of a warp, so that the kernel's own bounds count.
struct Sides {
  std::int64_t draft;
  std::array<std::int64_t, 2> trials;
  std::string_view shape;
  std::string_view box;  // of a tensor map
};
constexpr Sides kSides[] = {{1 << 20, {4096, 100}, R"("N")", "16"},
                            {512, {64, 20}, R"("N", "N")", "16, 16"},
                            {128, {16, 6}, R"("N", "N", "N")", "16, 16, 16"}};

const Sides& sides_of(Extent extent) {
  return kSides[static_cast<std::size_t>(extent)];
}

// Where the kernels come from, as a program file says it.
struct KernelFile {
  std::string key;  // "source", "ptx", "cubin", "fatbin"
  std::string path;
  ImageFacts facts;
  std::optional<Image> ptx;
};

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

KernelFile read_kernels(const std::filesystem::path& file, const DraftOptions& options) {
  KernelFile kernels;
  kernels.path =
      std::filesystem::proximate(file, options.folder.empty() ? "." : options.folder).string();
  if (is_source(file)) {
    const std::string arch =
        options.arch.empty() ? Device::open(kTrialDevice).compile_arch() : options.arch;
    const Compiled compiled =
        baton::compile(Source::from_file(file), {.arch = arch, .entries = options.entries});
    kernels.key = "source";
    kernels.facts = read_facts(compiled);
    kernels.ptx = compiled.ptx;
  } else {
    const Image image = Image::from_file(file);
    kernels.key = key_of(image.kind());
    kernels.facts = read_facts(image);
    if (image.kind() == ImageKind::kPtx) kernels.ptx = image;
  }
  if (kernels.facts.kernels.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "{} has no kernel{}; a template needs --entry \"NAME<TYPES>\", and a kernel is "
                "declared __global__",
                file.string(), is_source(file) ? " that is instantiated" : "");
  }
  return kernels;
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

// A word that a program file takes as a name: of the plain name of a kernel.
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

// One kernel of the draft.
struct DraftKernel {
  const KernelFacts* facts = nullptr;
  std::string name;
  std::vector<std::string> buffers;            // lines of [buffers], without the shape: see `write`
  std::vector<std::string> arguments;          // as TOML, without boxes of tensor maps
  std::vector<std::string> guesses;            // about arguments
  std::vector<LaunchGuess> launches;           // the likeliest first
  LaunchGuess launch;                          // the chosen one
  const FunctionMetadata* launched = nullptr;  // how, by launch metadata; null without any
};

std::string buffer_line(const std::string& name, const ParamFacts& param,
                        const image::ParamUse* use) {
  const std::optional<DType> used = use != nullptr ? use->element : std::nullopt;
  const DType dtype = param.dtype ? *param.dtype : used.value_or(DType::kF32);
  const std::string_view role = role_of(param, use);
  std::string line = fmt::format("{} = {{ dtype = \"{}\", shape = [@], role = \"{}\"", name,
                                 to_string(dtype), role);
  if (role != "output") line += ", init = \"random\"";
  line += " }  # " + param.type;
  if (!param.dtype) {
    line += used ? "; guess: the dtype is that of its first access" : "; guess: the dtype";
  }
  return line;
}

// A scalar: counts are N, other numbers 1.
std::string scalar_argument(const ParamFacts& param) {
  const bool is_float_type = param.dtype && is_float(*param.dtype);
  if (is_float_type) return "1.0";
  const bool counts = param.size >= 4 && (param.kind == ParamKind::kInteger ||
                                          (param.dtype && *param.dtype != DType::kBool));
  return counts ? "\"N\"" : "1";
}

const FunctionMetadata* find_function(const std::vector<FunctionMetadata>& functions,
                                      const KernelFacts& facts) {
  const auto found = std::ranges::find_if(functions, [&](const FunctionMetadata& function) {
    return function.symbol() == facts.name && facts.params &&
           function.parameters().size() == facts.params->size();
  });
  return found == functions.end() ? nullptr : &*found;
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

// Launch metadata says itself what the call passes: see `metadata_lines`.
std::vector<LaunchGuess> without_metadata(std::vector<LaunchGuess> guesses) {
  std::vector<LaunchGuess> left;
  for (LaunchGuess& guess : guesses) {
    guess.shared = 0;
    guess.cooperative = false;
    const bool is_new =
        left.empty() || left.back().block != guess.block || left.back().extent != guess.extent;
    if (is_new) left.push_back(guess);
  }
  return left;
}

DraftKernel draft_kernel(const KernelFile& file, const KernelFacts& facts, const std::string& name,
                         bool is_only, const FunctionMetadata* launched) {
  if (!facts.params) {
    throw error(ErrorCode::kInvalidInput, "the image does not tell the parameters of kernel {}",
                printable(facts.name));
  }
  DraftKernel kernel;
  kernel.facts = &facts;
  kernel.name = name;
  kernel.launched = launched;
  const KernelUse use_of_kernel = use_of(file, facts);
  const std::vector<image::ParamUse>& uses = use_of_kernel.params;
  kernel.launches = launch_guesses(facts, use_of_kernel.reached);
  if (launched != nullptr) kernel.launches = without_metadata(std::move(kernel.launches));
  kernel.launch = kernel.launches.front();
  for (std::size_t i = 0; i < facts.params->size(); ++i) {
    const ParamFacts& image_param = (*facts.params)[i];
    const bool is_map = launched != nullptr && launched->parameters()[i].tensor_map;
    const ParamFacts param =
        launched == nullptr ? image_param : declared(image_param, launched->parameters()[i]);
    const image::ParamUse* const use = i < uses.size() ? &uses[i] : nullptr;
    const std::string own = is_only ? fmt::format("p{}", i) : fmt::format("{}_{}", name, i);
    if (is_map) {
      kernel.buffers.push_back(
          fmt::format("{} = {{ dtype = \"f32\", shape = [@], role = \"inout\", init = \"random\" }}"
                      "  # tensor map; guess: all of it",
                      own));
      kernel.arguments.push_back(
          fmt::format("{{ tensor_map = {{ buffer = \"{}\", box = [@] }} }}", own));
      kernel.guesses.push_back(fmt::format("argument {} (tensor map)", i));
      continue;
    }
    switch (param.kind) {
      case ParamKind::kPointer:
        kernel.buffers.push_back(buffer_line(own, param, use));
        kernel.arguments.push_back("\"" + own + "\"");
        break;
      case ParamKind::kScalar:
      case ParamKind::kInteger:
        kernel.arguments.push_back(image_param.kind == ParamKind::kUnknown
                                       ? typed(param, scalar_argument(param))
                                       : scalar_argument(param));
        kernel.guesses.push_back(fmt::format("argument {} ({})", i, param.type));
        break;
      case ParamKind::kBytes:
      case ParamKind::kUnknown:
        kernel.arguments.push_back(
            fmt::format("{{ bytes = \"{}\" }}", std::string(2 * std::size_t{param.size}, '0')));
        kernel.guesses.push_back(
            fmt::format("argument {} ({}), its fields: {{ struct = [...] }}", i, param.type));
        break;
    }
  }
  return kernel;
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string with_shape(const std::string& line, Extent extent) {
  std::string result = line;
  result.replace(result.find('@'), 1, sides_of(extent).shape);
  return result;
}

// What the launch metadata says about every launch. Its values come with a call, so they are
// guesses here.
std::string metadata_lines(const FunctionMetadata& function) {
  std::string text = fmt::format(
      "# a call passes these launch values: {}\n",
      function.operands().empty() ? "none" : fmt::to_string(fmt::join(function.operands(), ", ")));
  const auto passes = [&](std::string_view operand) {
    return std::ranges::find(function.operands(), operand) != function.operands().end();
  };
  if (passes("cluster.x") || passes("cluster.y") || passes("cluster.z")) {
    text += "cluster = [1]  # guess\n";
  }
  if (passes("dynamic_smem_bytes")) {
    text += fmt::format("shared = {}  # guess: dynamic shared memory in bytes\n", kDynamicShared);
  }
  if (function.cooperative()) text += "cooperative = true  # as every launch\n";
  if (function.pdl()) {
    text += "pdl    = \"auto\"  # every launch allows PDL; \"on\" vouches for the edge before it\n";
  }
  return text;
}

std::string step_of(const DraftKernel& kernel) {
  std::string text = fmt::format("\n[[steps]]\nlaunch = \"{}\"\n", kernel.name);
  text += launch_lines(kernel.launch);
  if (kernel.launched != nullptr) text += metadata_lines(*kernel.launched);
  std::string arguments = fmt::to_string(fmt::join(kernel.arguments, ", "));
  const std::string_view box = sides_of(kernel.launch.extent).box;
  for (std::size_t at = 0; (at = arguments.find('@', at)) != std::string::npos; at += box.size()) {
    arguments.replace(at, 1, box);
  }
  text += fmt::format("args   = [{}]", arguments);
  if (!kernel.guesses.empty())
    text += fmt::format("  # guess: {}", fmt::join(kernel.guesses, ", "));
  return text + "\n";
}

std::string write(const KernelFile& file, const std::vector<DraftKernel>& kernels,
                  const std::string& name, const std::filesystem::path& origin,
                  std::int64_t elements, const std::string& path) {
  std::string text = fmt::format(
      "# Made by `baton init` from the facts of the kernels in {}. Lines marked \"guess\" are "
      "yours\n"
      "# to check. docs/program-file.md describes this file.\n",
      origin.filename().string());
  text += fmt::format("name = {}\n\n[symbols]\nN = {}  # guess\n\n[buffers]\n", toml_string(name),
                      elements);
  for (const DraftKernel& kernel : kernels) {
    for (const std::string& line : kernel.buffers)
      text += with_shape(line, kernel.launch.extent) + "\n";
  }
  for (const DraftKernel& kernel : kernels) {
    text += fmt::format("\n[kernels.{}]\n{} = {}\n", kernel.name, file.key, toml_string(path));
    const std::string& demangled = kernel.facts->demangled;
    const std::string entry = demangled.substr(0, demangled.find('('));
    if (entry != kernel.name) text += fmt::format("entry = {}\n", toml_string(entry));
  }
  for (const DraftKernel& kernel : kernels) text += step_of(kernel);
  return text;
}

// Why a trial of a kernel failed.
struct TrialFailure {
  Error error;
  // The first error that the device found and went on: a race, say. The kernel's code has it,
  // whatever the sizes are.
  std::optional<FindingReport> code_error = std::nullopt;
  // Whether the run broke off, or was refused: with other guesses it may go on.
  bool breaks_off = true;
};

struct Trial {
  std::optional<TrialFailure> failure;
  // Whether the kernel read memory that nothing wrote: a sign of a block that is too small for its
  // shared memory, and no error.
  bool reads_unwritten = false;

  bool breaks_off() const { return failure && failure->breaks_off; }
};

// Trials know the file by its absolute path, the reader by the one that was given.
std::string with_given_path(std::string text, const std::filesystem::path& origin) {
  const std::string absolute = std::filesystem::absolute(origin).string();
  for (std::size_t at = text.find(absolute); at != std::string::npos;
       at = text.find(absolute, at)) {
    text.replace(at, absolute.size(), origin.string());
    at += origin.string().size();
  }
  return text;
}

bool is_code_error(const FindingReport& finding) {
  const auto rows = driver::finding_table();
  return std::any_of(rows.begin(), rows.end(), [&](const driver::FindingRow& row) {
    return row.id == finding.kind && row.severity == driver::FindingSeverity::kError;
  });
}

void look_at(const RunReport& report, Trial& trial) {
  const auto first = std::ranges::find_if(report.findings, is_code_error);
  if (trial.failure && first != report.findings.end()) trial.failure->code_error = *first;
  trial.reads_unwritten |= std::ranges::any_of(report.findings, [](const FindingReport& finding) {
    return finding.kind == driver::to_string(driver::FindingKind::kUninitialized);
  });
}

// A run of the kernel alone with N elements along an axis.
Trial try_with(const KernelFile& file, const DraftKernel& kernel, std::int64_t elements,
               const std::filesystem::path& origin) {
  const std::string text =
      write(file, {kernel}, "trial", origin, elements, std::filesystem::absolute(origin).string());
  std::optional<Executable> executable;
  Trial trial;
  try {
    const Device device = Device::open(kTrialDevice);
    executable = Executable::prepare(Program::from_text(text, "<trial>"), device, PrepareOptions{});
    RunOptions options;
    options.timeout = kTrialLimit;
    executable->run(options);
  } catch (const Error& failure) {
    trial.failure = TrialFailure{failure};
    if (!executable) return trial;
    const bool is_complete =
        failure.code() == ErrorCode::kFault && !executable->report().steps.empty() &&
        std::ranges::all_of(executable->report().steps,
                            [](const StepReport& step) { return step.unfinished == 0; });
    trial.failure->breaks_off = !is_complete;
  }
  look_at(executable->report(), trial);
  return trial;
}

// The same with several values of N.
Trial try_guess(const KernelFile& file, const DraftKernel& kernel, const LaunchGuess& guess,
                const std::filesystem::path& origin) {
  DraftKernel tried = kernel;
  tried.launch = guess;
  Trial trial;
  for (const std::int64_t elements : sides_of(guess.extent).trials) {
    const bool unwritten = trial.reads_unwritten;
    trial = try_with(file, tried, elements, origin);
    trial.reads_unwritten |= unwritten;
    if (trial.failure) break;
  }
  return trial;
}

// Chooses the first guess with which the kernel runs to its end, and better one with which it reads
// only what was written. Returns the failure that is left. A race is no reason for another guess,
// which may only hide it.
std::optional<TrialFailure> choose_launch(const KernelFile& file,
                                          const std::filesystem::path& origin,
                                          DraftKernel& kernel) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<TrialFailure> first;  // of the likeliest guess
  bool has_second_best = false;
  for (const LaunchGuess& guess : kernel.launches) {
    Trial trial = try_guess(file, kernel, guess, origin);
    if (trial.breaks_off()) {
      if (!first) first = std::move(trial.failure);
    } else if (trial.failure || !trial.reads_unwritten) {
      kernel.launch = guess;
      return std::move(trial.failure);
    } else if (!has_second_best) {
      kernel.launch = guess;
      has_second_best = true;
    }
    if (std::chrono::steady_clock::now() - begin > kTrialsLimit) break;
  }
  return has_second_best ? std::nullopt : first;
}

std::string remark_about(const TrialFailure& failure, const std::string& kernel,
                         const std::filesystem::path& origin) {
  const auto& found = failure.code_error;
  if (found && !failure.breaks_off) {
    return fmt::format(
        "a trial on the simulated GPU found an error in the code of kernel {}, which does not come "
        "from a guess of a size: {}: {}; baton explain {}",
        kernel, with_given_path(found->where, origin), with_given_path(found->message, origin),
        found->kind);
  }
  return fmt::format(
      "a trial of kernel {} on the simulated GPU failed; mend the guesses of its step: {}", kernel,
      with_readable_names(with_given_path(failure.error.message(), origin)));
}

// Names of kernels, each once: "norm", "norm_2".
std::string unique_name(const std::string& name, std::map<std::string, int>& used) {
  const int count = ++used[name];
  return count == 1 ? name : fmt::format("{}_{}", name, count);
}

}  // namespace

ProgramDraft draft_program(const std::filesystem::path& file, const DraftOptions& options) {
  const KernelFile kernels_of_file = read_kernels(file, options);
  const std::vector<KernelFacts>& all = kernels_of_file.facts.kernels;
  ProgramDraft draft;
  std::vector<DraftKernel> kernels;
  std::map<std::string, int> used;
  for (const KernelFacts& facts : all) {
    DraftKernel kernel = draft_kernel(kernels_of_file, facts, unique_name(plain_name(facts), used),
                                      all.size() == 1, find_function(options.functions, facts));
    if (const auto failure = choose_launch(kernels_of_file, file, kernel)) {
      draft.remarks.push_back(remark_about(*failure, kernel.name, file));
    }
    draft.kernels.push_back(kernel.name);
    kernels.push_back(std::move(kernel));
  }
  // One N for all kernels: the smallest.
  std::int64_t elements = sides_of(Extent::kLine).draft;
  for (const DraftKernel& kernel : kernels) {
    elements = std::min(elements, sides_of(kernel.launch.extent).draft);
  }
  draft.text =
      write(kernels_of_file, kernels, file.stem().string(), file, elements, kernels_of_file.path);
  return draft;
}

}  // namespace baton::tools
