#include "tools/draft/library_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "base/array/npy_header.h"
#include "base/error.h"
#include "base/file/mapped_file.h"
#include "base/text/suggest.h"
#include "baton/image.h"
#include "image/image_content.h"
#include "image/ptx/ptx_use.h"
#include "metadata/fields.h"
#include "tools/draft/parameter_role.h"

namespace baton::tools {
namespace {

using metadata::Field;

// The keys of a tensor map that are lists of numbers; the others are words.
constexpr std::string_view kMapLists[] = {"box", "shape", "strides", "element_strides"};
constexpr std::string_view kMapWords[] = {"type", "interleave", "swizzle", "l2_promotion",
                                          "oob_fill"};

bool is_list(std::string_view key) {
  return std::ranges::find(kMapLists, key) != std::end(kMapLists);
}
bool is_word(std::string_view key) {
  return std::ranges::find(kMapWords, key) != std::end(kMapWords);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

template <typename T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A number as TOML writes it; nothing for another text.
std::optional<std::string> toml_integer(std::string_view text) {
  const auto value = parsed<std::int64_t>(text);
  return value ? std::optional(fmt::to_string(*value)) : std::nullopt;
}
std::optional<std::string> toml_number(std::string_view text) {
  if (auto integer = toml_integer(text)) return integer;
  const auto value = parsed<double>(text);
  return value && std::isfinite(*value) ? std::optional(fmt::to_string(*value)) : std::nullopt;
}

// "64,32" as the elements of an array of TOML.
std::optional<std::string> toml_integers(std::string_view text) {
  std::vector<std::string> numbers;
  for (const std::string_view part : split(text)) {
    const auto number = toml_integer(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return fmt::to_string(fmt::join(numbers, ", "));
}

// The dtype that NumPy's type names; nothing for raw elements.
std::optional<DType> dtype_of(const NpyHeader& header) {
  const std::size_t bits = 8 * header.size;
  if (header.kind == 'b') return DType::kBool;
  return parse_dtype(fmt::format("{}{}", header.kind, bits));
}

class CallWriter {
 public:
  CallWriter(const std::string& library, const LibraryKernels& kernels, const LibraryCall& call)
      : library_(library), call_(call), function_(chosen(kernels)) {
    for (const auto& [name, value] : call.arguments) given_.emplace(name, value);
    check_names();
    read_facts_of(kernels);
  }

  LibraryProgram write(const LibraryKernels& kernels) {
    std::vector<Assignment> inputs;
    std::vector<std::string> arguments;
    for (std::size_t k = 0; k < function_.parameters().size(); ++k) {
      arguments.push_back(argument(k, inputs));
    }
    const std::string text = fmt::format(
        "name = '{0}'\n[buffers]\n{1}[kernels.{2}]\ntext = 'kernel'\nentry = '{0}'\n"
        "[[steps]]\nlaunch = '{2}'\n{3}args = [{4}]\n",
        function_.symbol(), buffers_, kernel_name(), launch_lines(), fmt::join(arguments, ", "));
    ProgramDefinition definition =
        Program::from_text(text, fmt::format("<call of {}>", function_.symbol())).definition();
    ProgramKernel& kernel = definition.kernels.front();
    if (image_) {
      kernel.origin = KernelOrigin::kImage;
      kernel.text.clear();
      kernel.image = image_;
    } else {
      kernel.text = kernels.bytes;
    }
    return {Program(std::move(definition)), std::move(inputs)};
  }

 private:
  const FunctionMetadata& chosen(const LibraryKernels& kernels) const {
    std::vector<std::string> names;
    for (const FunctionMetadata& function : kernels.functions) names.push_back(function.symbol());
    if (names.empty()) {
      throw error(ErrorCode::kInvalidInput,
                  "{} has no function with launch metadata; baton init {} drafts a program for its "
                  "kernels",
                  library_, library_);
    }
    if (call_.function.empty()) {
      if (names.size() == 1) return kernels.functions[0];
      throw error(ErrorCode::kInvalidInput, "{} has {} functions; choose one by --function: {}",
                  library_, names.size(), fmt::join(names, ", "));
    }
    const auto found = std::ranges::find(names, call_.function);
    if (found == names.end()) {
      throw error(ErrorCode::kNotFound, "--function {}: {} has no such function{}", call_.function,
                  library_, suggestion(call_.function, names));
    }
    return kernels.functions[static_cast<std::size_t>(found - names.begin())];
  }

  // The symbol, where a program file takes it as a name.
  std::string kernel_name() const {
    const bool is_word = std::ranges::all_of(
        function_.symbol(), [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; });
    return is_word ? function_.symbol() : "kernel";
  }

  static std::string name_of(std::size_t parameter) { return fmt::format("p{}", parameter); }

  // Launch values that --arg gives: the stream is that of the run.
  std::vector<std::string> launch_values() const {
    std::vector<std::string> names;
    for (const std::string_view operand : function_.operands()) {
      if (operand != "stream") names.emplace_back(operand);
    }
    return names;
  }

  // "p0 (handle), p1 (int32), grid.x, block.x"
  std::string takes() const {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < function_.parameters().size(); ++k) {
      const FunctionMetadata::Parameter& parameter = function_.parameters()[k];
      all.push_back(fmt::format("{} ({})", name_of(k),
                                parameter.tensor_map ? "tensor map" : parameter.type.name()));
    }
    for (std::string& name : launch_values()) all.push_back(std::move(name));
    return fmt::format("function {} takes {}", function_.symbol(), fmt::join(all, ", "));
  }

  [[noreturn]] void refuse(const std::string& name, std::string_view why) const {
    throw error(ErrorCode::kInvalidInput, "--arg {}={}: {}", name, given_.at(name), why);
  }

  const std::string* given(const std::string& name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
  }

  // Every argument is there, and there is no other one.
  void check_names() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < function_.parameters().size(); ++k) {
      names.push_back(name_of(k));
      if (!function_.parameters()[k].tensor_map) continue;
      for (const std::string_view key : kMapLists) names.push_back(name_of(k) + "." + key.data());
      for (const std::string_view key : kMapWords) names.push_back(name_of(k) + "." + key.data());
    }
    for (std::string& name : launch_values()) names.push_back(std::move(name));
    for (const auto& [name, value] : given_) {
      if (std::ranges::find(names, name) != names.end()) continue;
      throw error(ErrorCode::kNotFound, "--arg {}={}: there is no such argument; {}", name, value,
                  takes());
    }
    std::vector<std::string> missing;
    for (const std::string& name : names) {
      const std::size_t dot = name.find('.');
      const bool is_key = name[0] == 'p' && dot != std::string::npos && !metadata::find_field(name);
      if (is_key ? name.substr(dot) == ".box" && given(name) == nullptr : given(name) == nullptr) {
        missing.push_back(name);
      }
    }
    if (missing.empty()) return;
    throw error(ErrorCode::kInvalidInput, "{}; give --arg NAME=VALUE for {}", takes(),
                fmt::join(missing, ", "));
  }

  void read_facts_of(const LibraryKernels& kernels) {
    if (kernels.ending == ".cu") return;  // not compiled yet
    image_ = Image::from_bytes(kernels.bytes, library_);
    const ImageFacts facts = read_facts(*image_);
    const auto found = std::ranges::find_if(
        facts.kernels, [&](const KernelFacts& each) { return each.name == function_.symbol(); });
    if (found == facts.kernels.end()) {
      throw error(ErrorCode::kInvalidInput,
                  "the image in {} has no kernel {}, which its metadata describes", library_,
                  function_.symbol());
    }
    if (found->params) parameters_ = *found->params;
    if (image_->kind() != ImageKind::kPtx) return;
    const auto module = image::ptx_of(*image_);
    const ptx::Function* const kernel = module->function(function_.symbol());
    if (kernel != nullptr && kernel->has_body) uses_ = image::param_uses(*kernel);
  }

  std::string argument(std::size_t k, std::vector<Assignment>& inputs) {
    const FunctionMetadata::Parameter& parameter = function_.parameters()[k];
    const std::string name = name_of(k);
    if (parameter.tensor_map) {
      add_buffer(k, inputs);
      return tensor_map(name);
    }
    if (parameter.type.code == MetadataType::Code::kHandle) {
      if (*given(name) == "null") return "{ u64 = 0 }";
      add_buffer(k, inputs);
      return fmt::format("\"{}\"", name);
    }
    return number(name, parameter.type);
  }

  std::string number(const std::string& name, const MetadataType& type) const {
    const std::optional<DType> dtype = type.dtype();
    if (!dtype) {
      refuse(name,
             fmt::format("the parameter has the type {}, which a number cannot have", type.name()));
    }
    const bool takes_float = is_float(*dtype);
    const auto text = takes_float ? toml_number(*given(name)) : toml_integer(*given(name));
    if (!text) {
      refuse(name, fmt::format("the parameter has the type {}: give {}", type.name(),
                               takes_float ? "a number" : "an integer"));
    }
    return fmt::format("{{ {} = {} }}", to_string(*dtype), *text);
  }

  // DTYPE[N,N]: zeros. Nothing for other texts.
  static std::optional<std::pair<DType, std::string>> zeros(std::string_view text) {
    const std::size_t open = text.find('[');
    if (open == std::string_view::npos || text.back() != ']') return std::nullopt;
    const std::optional<DType> dtype = parse_dtype(text.substr(0, open));
    const auto shape = toml_integers(text.substr(open + 1, text.size() - open - 2));
    if (!dtype || !shape) return std::nullopt;
    return std::pair(*dtype, *shape);
  }

  void add_buffer(std::size_t k, std::vector<Assignment>& inputs) {
    const std::string name = name_of(k);
    const std::string& text = *given(name);
    const ParamFacts facts = k < parameters_.size() ? parameters_[k] : ParamFacts{};
    const std::string_view role = function_.parameters()[k].tensor_map
                                      ? "inout"
                                      : role_of(facts, k < uses_.size() ? &uses_[k] : nullptr);
    if (const auto made = zeros(text)) {
      buffers_ += fmt::format(
          "{} = {{ dtype = \"{}\", shape = [{}], role = \"{}\", init = \"zeros\" "
          "}}\n",
          name, to_string(made->first), made->second, role);
      return;
    }
    const auto [dtype, file] = named_file(name, text);
    const NpyHeader header = parse_npy_header(MappedFile::open(file)->bytes(), file);
    const std::optional<DType> own = dtype_of(header);
    if (!dtype && !own) {
      refuse(name, fmt::format("its elements are raw ({}); name their type, as in bf16:{}",
                               header.type(), file));
    }
    // What the kernel does not write keeps the file's contents.
    buffers_ += fmt::format("{} = {{ dtype = \"{}\", shape = [{}], role = \"{}\" }}\n", name,
                            to_string(dtype ? *dtype : *own), fmt::join(header.shape, ", "),
                            role == "output" ? "inout" : role);
    inputs.emplace_back(name, file);
  }

  // x.npy or DTYPE:x.npy
  std::pair<std::optional<DType>, std::string> named_file(const std::string& name,
                                                          const std::string& text) const {
    if (!text.ends_with(".npy")) {
      refuse(name,
             "the parameter is memory: give FILE.npy, DTYPE:FILE.npy, zeros as f32[64,32], or "
             "null");
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return {std::nullopt, text};
    const std::optional<DType> dtype = parse_dtype(text.substr(0, colon));
    return dtype ? std::pair(dtype, text.substr(colon + 1)) : std::pair(dtype, text);
  }

  std::string tensor_map(const std::string& name) const {
    std::string keys = fmt::format("buffer = \"{}\"", name);
    for (const auto& [argument, value] : given_) {
      if (!argument.starts_with(name + ".")) continue;
      const std::string key = argument.substr(name.size() + 1);
      if (is_list(key)) {
        const auto numbers = toml_integers(value);
        if (!numbers) refuse(argument, "give integers with commas between them");
        keys += fmt::format(", {} = [{}]", key, *numbers);
      } else if (is_word(key)) {
        if (value.find_first_of("\"\\\n") != std::string::npos) refuse(argument, "give a word");
        keys += fmt::format(", {} = \"{}\"", key, value);
      }
    }
    return fmt::format("{{ tensor_map = {{ {} }} }}", keys);
  }

  std::string launch_lines() const {
    std::array<std::string, 3> grid = {"1", "1", "1"}, block = grid;
    std::string shared;
    // By attribute: its fields in the metadata's order.
    std::map<std::string_view, Fields> attributes;
    for (const std::string& name : launch_values()) {
      const auto number = toml_number(*given(name));
      if (!number) refuse(name, "give a number");
      const std::string& value = *number;
      const Field& field = *metadata::find_field(name);
      const bool is_extent =
          field.place == Field::Place::kGrid || field.place == Field::Place::kBlock;
      if (is_extent && parsed<std::int64_t>(*given(name)).value_or(0) < 1) {
        refuse(name, "give an integer of at least 1");
      }
      switch (field.place) {
        case Field::Place::kGrid:
          grid[field.axis] = value;
          break;
        case Field::Place::kBlock:
          block[field.axis] = value;
          break;
        case Field::Place::kShared:
          shared = fmt::format("shared = {}\n", value);
          break;
        case Field::Place::kAttribute:
          attributes[field.row->name].emplace_back(field.leaf, value);
          break;
        case Field::Place::kStream:
          break;
      }
    }
    std::string text = fmt::format("grid = [{}]\nblock = [{}]\n{}", fmt::join(grid, ", "),
                                   fmt::join(block, ", "), shared);
    for (const auto& [name, fields] : attributes) {
      if (!is_unsent(name, fields)) text += attribute_line(name, fields);
    }
    if (function_.cooperative()) text += "cooperative = true\n";
    return text;
  }

  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  // By launch-parameter tags a preferred cluster of one block is none.
  bool is_unsent(std::string_view name, const Fields& fields) const {
    return function_.rules() != OperandRules::kStrict && name == "preferred_cluster" &&
           std::ranges::all_of(fields, [](const auto& field) { return field.second == "1"; });
  }

  static std::string attribute_line(std::string_view name, const Fields& fields) {
    if (fields.size() == 1 && fields[0].first.empty()) {
      return fmt::format("{} = {}\n", name, fields[0].second);
    }
    constexpr std::string_view kAxes = "xyz";
    std::array<std::string, 3> extents = {"1", "1", "1"};
    std::string table;
    bool are_extents = true;
    for (const auto& [leaf, value] : fields) {
      const std::size_t axis = leaf.size() == 1 ? kAxes.find(leaf) : std::string_view::npos;
      are_extents = are_extents && axis != std::string_view::npos;
      if (are_extents) extents[axis] = value;
      table += fmt::format("{}{} = {}", table.empty() ? "" : ", ", leaf, value);
    }
    return are_extents ? fmt::format("{} = [{}]\n", name, fmt::join(extents, ", "))
                       : fmt::format("{} = {{ {} }}\n", name, table);
  }

  const std::string& library_;
  const LibraryCall& call_;
  const FunctionMetadata& function_;
  std::map<std::string, std::string> given_;
  std::optional<Image> image_;          // nothing for a source
  std::vector<ParamFacts> parameters_;  // empty where the image does not tell
  std::vector<image::ParamUse> uses_;   // likewise
  std::string buffers_;
};

}  // namespace

LibraryProgram library_program(const std::string& library, const LibraryKernels& kernels,
                               const LibraryCall& call) {
  return CallWriter(library, kernels, call).write(kernels);
}

}  // namespace baton::tools
