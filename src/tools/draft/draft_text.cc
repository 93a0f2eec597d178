#include "tools/draft/draft_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "image/find_variable.h"

namespace baton::tools {
namespace {

// Guesses for what a call by launch metadata passes.
constexpr std::uint32_t kDynamicShared = 16384;

const Sides kSides[] = {{{1 << 20, 1 << 16, 1 << 12}, {4096, 100}, 100, "16"},
                        {{512, 256}, {300, 100}, 40, "16, 16"},
                        {{128, 64, 32}, {20, 6}, 6, "16, 16, 16"}};

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string with_shape(const DraftBuffer& buffer, const DraftKernel& kernel) {
  const int count = buffer.axes.value_or(axes_of(kernel.launch.cover.extent));
  const DraftSize& sizes = buffer.size ? *buffer.size : kernel.size;
  std::vector<std::string> axes;
  for (int axis = count; axis-- > 0;) {
    std::string size = sizes.along(axis, count);
    if (kernel.beyond > 0) size += fmt::format(" + {}", kernel.beyond);
    axes.push_back(fmt::format("\"{}\"", size));
  }
  std::string result = buffer.definition;
  const bool is_fixed = buffer.fixed > 0 || count == 0;
  result.replace(result.find('@'), 1,
                 is_fixed ? fmt::to_string(std::max(buffer.fixed, std::int64_t{1}))
                          : fmt::to_string(fmt::join(axes, ", ")));
  if (is_fixed) {
    result += "; guess: this kernel accesses so many, whatever the sizes are";
  } else if (buffer.axes) {
    result += "; guess: this kernel accesses so many";
  }
  return result;
}

// The line for a variable, as a comment: what it holds is not known.
std::string constant_line(const DraftConstant& constant, const std::string& kernel) {
  const VariableFacts& variable = constant.variable;
  const std::string name = image::source_name(variable);
  std::string key = underscored(name);
  std::ranges::replace(key, ':', '_');  // of a namespace
  DType dtype = constant.dtype.value_or(DType::kF32);
  if (variable.size % size_of(dtype) != 0) dtype = DType::kU8;
  return fmt::format(
      "# {} = {{ dtype = \"{}\", shape = [{}], role = \"input\", init = \"random\", "
      "variable = {} }}  # __constant__: zeros without this line\n",
      key, to_string(dtype), variable.size / size_of(dtype), toml_string(kernel + "." + name));
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
  if (function.pdl()) {
    text += "pdl    = \"auto\"  # every launch allows PDL; \"on\" guarantees the edge before it\n";
  }
  return text;
}

std::string step_of(const DraftKernel& kernel) {
  std::string text = fmt::format("\n[[steps]]\nlaunch = \"{}\"\n", kernel.name);
  text += launch_lines(kernel.launch, kernel.size);
  if (kernel.launched != nullptr) text += metadata_lines(*kernel.launched);
  std::string arguments = fmt::to_string(fmt::join(kernel.arguments, ", "));
  const std::string_view box = sides_of(kernel.launch.cover.extent).box;
  for (std::size_t at = 0; (at = arguments.find('@', at)) != std::string::npos; at += box.size()) {
    arguments.replace(at, 1, box);
  }
  text += fmt::format("args   = [{}]", arguments);
  if (!kernel.guesses.empty())
    text += fmt::format("  # guess: {}", fmt::join(kernel.guesses, ", "));
  return text + "\n";
}

// Blocks are powers of two, so the largest number is a multiple of the others.
std::string requirement_of(const std::vector<DraftKernel>& kernels) {
  std::map<std::string, std::uint32_t> multiples;  // by symbol
  std::string names;
  for (const DraftKernel& kernel : kernels) {
    if (kernel.multiple_of == 1) continue;
    for (const std::string& symbol : kernel.size.symbols) {
      multiples[symbol] = std::max(multiples[symbol], kernel.multiple_of);
    }
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  if (multiples.empty()) return "";
  std::vector<std::string> requirements;
  for (const auto& [symbol, multiple] : multiples) {
    requirements.push_back(fmt::format("\"{} % {} == 0\"", symbol, multiple));
  }
  return fmt::format("require = [{}]  # without bounds of its own: {}\n",
                     fmt::join(requirements, ", "), names);
}

// The symbols of all kernels, each with the same value.
std::string symbol_lines(const std::vector<DraftKernel>& kernels, std::int64_t value) {
  std::set<std::string_view> known;
  std::string lines;
  const auto add = [&](const std::vector<std::string>& symbols) {
    for (const std::string& symbol : symbols) {
      if (known.insert(symbol).second) lines += fmt::format("{} = {}  # guess\n", symbol, value);
    }
  };
  for (const DraftKernel& kernel : kernels) {
    add(kernel.size.symbols);
    add(kernel.counts);
  }
  return lines;
}

}  // namespace

const Sides& sides_of(Extent extent) {
  return kSides[static_cast<std::size_t>(extent)];
}

std::string draft_text(const KernelFile& file, const std::vector<DraftKernel>& kernels,
                       const std::string& name, const std::filesystem::path& origin,
                       std::int64_t elements, const std::string& path) {
  std::string text = fmt::format(
      "# Made by `baton init` from the facts of the kernels in {}. Lines marked \"guess\" are "
      "yours\n"
      "# to check. docs/program-file.md describes this file.\n",
      origin.filename().string());
  text += fmt::format("name = {}\n", toml_string(name));
  text += requirement_of(kernels);
  text += fmt::format("\n[symbols]\n{}\n[buffers]\n", symbol_lines(kernels, elements));
  for (const DraftKernel& kernel : kernels) {
    for (const DraftBuffer& buffer : kernel.buffers) {
      text += fmt::format("{} = {}\n", buffer.name, with_shape(buffer, kernel));
    }
  }
  for (const DraftConstant& constant : file.constants) {
    text += constant_line(constant, kernels.front().name);
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

}  // namespace baton::tools
