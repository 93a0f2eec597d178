#include "program/validate.h"

#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/npy_header.h"
#include "base/overloaded.h"
#include "base/suggest.h"
#include "base/text.h"
#include "launch/tensor_map_limits.h"
#include "program/attributes.h"
#include "program/expression_code.h"
#include "program/names.h"
#include "program/scalar.h"

namespace baton {
namespace {

class Validator {
 public:
  explicit Validator(ProgramDefinition& program) : program_(program) {}

  void check() {
    if (trim(program_.name).empty()) {
      throw error(ErrorCode::kInvalidInput, "the program's name is empty");
    }
    for (const ProgramSymbol& symbol : program_.symbols) declare(symbol.name, "symbol", symbol);
    for (const ProgramBuffer& buffer : program_.buffers) declare(buffer.name, "buffer", buffer);
    for (const ProgramBuffer& buffer : program_.buffers) located(buffer, [&] { check(buffer); });
    for (ProgramKernel& kernel : program_.kernels) located(kernel, [&] { check(kernel); });
    check_variables();
    if (program_.steps.empty()) {
      throw error(ErrorCode::kInvalidInput,
                  "the program {} has no steps; give it a launch, a copy, a fill or a repeat",
                  printable(program_.name));
    }
    check(program_.steps);
  }

 private:
  struct Declared {
    const char* kind;  // "symbol", "buffer", "index"
    SourceLocation where;
    const ProgramBuffer* buffer = nullptr;
  };

  // Adds the part's place to errors that know none.
  template <typename Part, typename Check>
  static void located(const Part& part, Check&& check) {
    try {
      check();
    } catch (Error& failure) {
      failure.at(part.where);
      throw;
    }
  }

  template <typename Part>
  void declare(const std::string& name, const char* kind, const Part& part) {
    if (is_function_name(name)) {
      throw error_at(part.where, ErrorCode::kInvalidInput,
                     "the {} {} has the name of a function; choose another", kind, name);
    }
    if (!is_identifier(name)) {
      throw error_at(
          part.where, ErrorCode::kInvalidInput,
          "the {} \"{}\" is not a name: letters, digits and _, not starting with a digit", kind,
          printable(name));
    }
    Declared declared{kind, part.where};
    if constexpr (std::is_same_v<Part, ProgramBuffer>) declared.buffer = &part;
    const auto [found, added] = names_.emplace(name, declared);
    if (!added) {
      throw error_at(part.where, ErrorCode::kInvalidInput,
                     "the {} {} has the name of {} {} already{}; choose another", kind, name,
                     *found->second.kind == 'i' ? "an" : "a", found->second.kind,
                     found->second.where.known() ? ", at " + found->second.where.to_string() : "");
    }
  }

  const ProgramBuffer& buffer(const std::string& name, const SourceLocation& where) const {
    const auto found = names_.find(name);
    if (found != names_.end() && found->second.buffer != nullptr) return *found->second.buffer;
    std::vector<std::string_view> known;
    for (const ProgramBuffer& candidate : program_.buffers) known.push_back(candidate.name);
    if (found != names_.end()) {
      throw error_at(where, ErrorCode::kInvalidInput, "{} is {} {}, where a buffer is expected{}",
                     name, found->second.kind[0] == 'i' ? "an" : "a", found->second.kind,
                     suggestion("", known));
    }
    throw error_at(where, ErrorCode::kNotFound, "unknown buffer \"{}\"{}", printable(name),
                   suggestion(name, known));
  }

  // Every name must be a symbol, or an index of an open group.
  void check_names(const ExpressionCode& code) const {
    for (const ExpressionCode::Node& node : code.nodes) {
      if (node.op != ExpressionCode::Op::kName) continue;
      const std::string& name = code.names[static_cast<std::size_t>(node.value)];
      const auto found = names_.find(name);
      if (found != names_.end() && found->second.buffer == nullptr) continue;
      if (found != names_.end()) {
        throw error_at(code.place(node.begin), ErrorCode::kInvalidInput,
                       "{} is a buffer, in the expression \"{}\"; a buffer comes first, as in "
                       "\"{} + offset\", and only where a buffer is expected",
                       name, printable(code.text), name);
      }
      std::vector<std::string_view> known;
      for (const auto& [other, declared] : names_) {
        if (declared.buffer == nullptr) known.push_back(other);
      }
      throw error_at(code.place(node.begin), ErrorCode::kNotFound, "unknown symbol \"{}\"{}", name,
                     suggestion(name, known));
    }
  }

  // `least`: of a literal.
  void check(const Expression& expression, std::string_view what, std::int64_t least) const {
    check_names(*expression.code());
    if (const auto literal = expression.literal(); literal && *literal < least) {
      throw error_at(expression.where(), ErrorCode::kInvalidInput,
                     "{} is {}, it must be at least {}", what, *literal, least);
    }
  }

  void check(const ProgramBuffer& buffer) const {
    if (buffer.shape.size() > kMaxNpyDimensions) {
      throw error_at(buffer.where, ErrorCode::kInvalidInput,
                     "buffer {} has {} dimensions, the most is {}", buffer.name,
                     buffer.shape.size(), kMaxNpyDimensions);
    }
    for (const Expression& extent : buffer.shape) {
      check(extent, fmt::format("an extent of buffer {}", buffer.name), 0);
    }
    if ((buffer.init == BufferInit::kFile) != !buffer.file.empty()) {
      throw error_at(buffer.where, ErrorCode::kInvalidInput,
                     "buffer {} has init = \"{}\" and file = \"{}\", which do not go together",
                     buffer.name, to_string(buffer.init), buffer.file.string());
    }
  }

  // A variable is of a kernel that there is, and one buffer at the most.
  void check_variables() const {
    std::map<std::pair<std::string, std::string>, const ProgramBuffer*> taken;
    for (const ProgramBuffer& buffer : program_.buffers) {
      if (!buffer.variable) continue;
      const auto& [kernel, name] = *buffer.variable;
      if (kernels_.find(kernel) == kernels_.end()) {
        std::vector<std::string_view> known;
        for (const auto& [other, definition] : kernels_) known.push_back(other);
        throw error_at(buffer.where, ErrorCode::kNotFound,
                       "buffer {} is a variable of the unknown kernel \"{}\"{}", buffer.name,
                       printable(kernel), suggestion(kernel, known));
      }
      const auto [found, added] = taken.emplace(std::pair(kernel, name), &buffer);
      if (!added) {
        throw error_at(buffer.where, ErrorCode::kInvalidInput,
                       "the buffers {} and {} are both the variable {} of kernel {}",
                       found->second->name, buffer.name, printable(name), kernel);
      }
    }
  }

  void check(ProgramKernel& kernel) {
    if (trim(kernel.name).empty()) {
      throw error_at(kernel.where, ErrorCode::kInvalidInput, "a kernel has an empty name");
    }
    const auto [found, added] = kernels_.emplace(kernel.name, &kernel);
    if (!added) {
      throw error_at(kernel.where, ErrorCode::kInvalidInput, "there are two kernels named {}",
                     printable(kernel.name));
    }
    const bool is_text = kernel.origin == KernelOrigin::kText;
    if (is_text ? trim(kernel.text).empty() : kernel.file.empty()) {
      throw error_at(kernel.where, ErrorCode::kInvalidInput, "kernel {} has no {}",
                     printable(kernel.name), is_text ? "text" : "file");
    }
    if (!is_text && kernel.origin != KernelOrigin::kSource) {
      const char* misplaced = !kernel.prelude.empty()   ? "prelude"
                              : !kernel.include.empty() ? "include"
                              : !kernel.options.empty() ? "options"
                                                        : nullptr;
      if (misplaced != nullptr) {
        throw error_at(kernel.where, ErrorCode::kInvalidInput,
                       "kernel {} has {}, which is for the compiler, but comes as {}, which is not "
                       "compiled",
                       printable(kernel.name), misplaced, to_string(kernel.origin));
      }
    }
    check(kernel.launch);
    const bool insists = kernel.rewrite.value_or(RewriteMode::kAuto) > RewriteMode::kAuto;
    const bool is_machine_code =
        kernel.origin == KernelOrigin::kCubin || kernel.origin == KernelOrigin::kFatbin;
    if (insists && is_machine_code) {
      throw error_at(kernel.where, ErrorCode::kInvalidInput,
                     "kernel {} has rewrite = \"{}\", but comes as {}, and only source and PTX can "
                     "be rewritten; leave it out",
                     printable(kernel.name), to_string(*kernel.rewrite), to_string(kernel.origin));
    }
  }

  void check(ProgramAttributes& attributes) const {
    if (attributes.shared) check(*attributes.shared, "dynamic shared memory", 0);
    resolve_attributes(attributes.list,
                       {[this](const Expression& value) { check_names(*value.code()); },
                        [this](const BufferOffset& place) { check(place); }});
  }

  void check(std::vector<ProgramStep>& steps) {
    for (ProgramStep& step : steps) {
      located(step,
              [&] { std::visit([&](auto& action) { check(action, step.where); }, step.action); });
    }
  }

  void check_extents(const std::vector<Expression>& extents, const char* what) const {
    if (extents.size() > 3) {
      throw error(ErrorCode::kInvalidInput, "the {} has {} extents, the most is 3", what,
                  extents.size());
    }
    for (const Expression& extent : extents) check(extent, fmt::format("a {} extent", what), 1);
  }

  void check(LaunchStep& step, const SourceLocation& where) const {
    if (kernels_.count(step.kernel) == 0) {
      std::vector<std::string_view> known;
      for (const ProgramKernel& kernel : program_.kernels) known.push_back(kernel.name);
      throw error_at(where, ErrorCode::kNotFound, "unknown kernel \"{}\"{}", printable(step.kernel),
                     suggestion(step.kernel, known));
    }
    if (step.grid.empty()) {
      throw error(ErrorCode::kInvalidInput, "the launch of {} has no grid", printable(step.kernel));
    }
    check_extents(step.grid, "grid");
    check_extents(step.block, "block");
    for (LaunchArgument& argument : step.args) {
      located(argument, [&] { resolve(argument); });
    }
    check(step.attributes);
  }

  void resolve(LaunchArgument& argument) const {
    if (const auto* text = std::get_if<std::string>(&argument.value)) {
      const auto found = names_.find(leading_word(trim(*text)));
      const bool is_buffer = found != names_.end() && found->second.buffer != nullptr;
      if (is_buffer) {
        argument.value = BufferOffset(*text, argument.where);
      } else {
        argument.value = Expression(*text, argument.where);
      }
    }
    std::visit(Overloaded{[&](const BufferOffset& place) { check(place); },
                          [&](const Expression& integer) { check_argument_names(*integer.code()); },
                          [&](const TypedValue& typed) { check(typed); },
                          [&](const TensorMapArgument& map) { check(map); },
                          [&](const BufferView& view) {
                            const ProgramBuffer& target = check(view.place);
                            if (!view.count) return;
                            check(*view.count, fmt::format("the count of {}", target.name), 0);
                          },
                          [&](StructArgument& fields) {
                            for (LaunchArgument& field : fields.fields) {
                              located(field, [&] { resolve(field); });
                            }
                          },
                          [](double) {}, [](const RawBytes&) {},
                          [](const std::string&) {}},  // resolved above
               argument.value);
  }

  void check(const TypedValue& typed) const {
    std::visit(Overloaded{[&](const Expression& value) { check_names(*value.code()); },
                          [&](const FloatExpression& value) { check_names(*value.code()); },
                          [](double) {}},
               typed.value);
  }

  // What the symbols' values decide is left to their binding.
  void check(const TensorMapArgument& map) const {
    const ProgramBuffer& target = check(map.buffer);
    const std::size_t rank = map.shape.empty() ? target.shape.size() : map.shape.size();
    if (rank < 1 || rank > launch::kMaxTensorMapRank) {
      throw error(ErrorCode::kInvalidInput,
                  "the tensor map of {} has {} dimensions, it must have 1 to {}; give it a shape",
                  target.name, rank, launch::kMaxTensorMapRank);
    }
    const auto check_list = [&](const std::vector<Expression>& list, std::string_view what,
                                std::int64_t least, bool optional) {
      if (list.size() != rank && !(optional && list.empty())) {
        throw error(ErrorCode::kInvalidInput,
                    "the tensor map of {} has {} dimensions and {} extents in {}", target.name,
                    rank, list.size(), what);
      }
      for (const Expression& extent : list) {
        check(extent, fmt::format("an extent in {} of the tensor map", what), least);
      }
    };
    check_list(map.shape, "shape", 1, true);
    check_list(map.strides, "strides", 0, true);
    check_list(map.box, "box", 1, false);
    check_list(map.element_strides, "element_strides", 1, true);
    if (map.type && size_of(*map.type) != size_of(target.dtype)) {
      throw error(ErrorCode::kInvalidInput,
                  "the tensor map of {} has the type {} of {} bytes, the buffer {} of {} bytes",
                  target.name, to_string(*map.type), size_of(*map.type), to_string(target.dtype),
                  size_of(target.dtype));
    }
  }

  // A lone name that nobody knows may have been meant for a buffer.
  void check_argument_names(const ExpressionCode& code) const {
    if (code.nodes.size() == 1 && code.nodes[0].op == ExpressionCode::Op::kName &&
        names_.count(code.names[0]) == 0) {
      std::vector<std::string_view> known;
      for (const auto& [name, declared] : names_) known.push_back(name);
      throw error_at(code.where, ErrorCode::kNotFound, "\"{}\" is not a buffer, symbol or index{}",
                     code.names[0], suggestion(code.names[0], known));
    }
    check_names(code);
  }

  const ProgramBuffer& check(const BufferOffset& place) const {
    const ProgramBuffer& target = buffer(place.buffer, place.where);
    if (place.offset) check(*place.offset, fmt::format("the offset in {}", place.buffer), 0);
    return target;
  }

  void check_writable(const ProgramBuffer& target, const char* what) const {
    if (target.role == BufferRole::kWeight) {
      throw error(ErrorCode::kInvalidInput,
                  "{} writes {}, which has the role weight: no step may write it", what,
                  target.name);
    }
  }

  void check(CopyStep& step, const SourceLocation&) const {
    const ProgramBuffer& from = check(step.from);
    const ProgramBuffer& to = check(step.to);
    if (from.dtype != to.dtype) {
      throw error(ErrorCode::kInvalidInput,
                  "copy from {} to {}: the dtypes {} and {} differ, a copy does not convert",
                  from.name, to.name, to_string(from.dtype), to_string(to.dtype));
    }
    check_writable(to, "copy");
    if (step.count) check(*step.count, "the count of the copy", 0);
  }

  void check(FillStep& step, const SourceLocation& where) const {
    const ProgramBuffer& target = buffer(step.buffer, where);
    check_writable(target, "fill");
    if (const auto* number = std::get_if<double>(&step.value)) {
      if (!encode_exact(target.dtype, *number)) {
        throw error(ErrorCode::kInvalidInput, "fill of {}: {} does not hold {} exactly",
                    target.name, to_string(target.dtype), *number);
      }
      return;
    }
    const auto& expression = std::get<Expression>(step.value);
    check_names(*expression.code());
    const auto literal = expression.literal();
    if (literal && !encode_exact(target.dtype, *literal)) {
      throw error_at(expression.where(), ErrorCode::kInvalidInput,
                     "fill of {}: {} does not hold {} exactly", target.name,
                     to_string(target.dtype), *literal);
    }
  }

  void check(RepeatStep& step, const SourceLocation& where) {
    check(step.count, "the count of the repeat", 0);
    if (step.steps.empty()) throw error(ErrorCode::kInvalidInput, "the repeat has no steps");
    if (++depth_ > kMaxRepeatDepth) {
      throw error(ErrorCode::kInvalidInput, "repeats are nested deeper than {} levels",
                  kMaxRepeatDepth);
    }
    if (!step.index.empty()) declare(step.index, "index", ProgramSymbol{.where = where});
    check(step.steps);
    names_.erase(step.index);
    --depth_;
  }

  ProgramDefinition& program_;
  std::map<std::string, Declared, std::less<>> names_;
  std::map<std::string, const ProgramKernel*, std::less<>> kernels_;
  std::size_t depth_ = 0;
};

}  // namespace

void validate(ProgramDefinition& program) {
  Validator(program).check();
}

}  // namespace baton
