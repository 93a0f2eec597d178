#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/expression.h"
#include "baton/forward.h"
#include "baton/program_buffer.h"
#include "baton/program_kernel.h"
#include "baton/program_step.h"

namespace baton {

// The parts of a program: plain values, which a reader or a builder fills and Program checks.
// `where` is the place in the program file, or in the C++ source that built the part. Equality
// ignores it.

struct ProgramSymbol {
  std::string name = {};
  std::int64_t value = 0;  // the default
  SourceLocation where = {};
  // `rank` or `ranks` of a program with a world, or a group's, which sets their values. Program
  // adds them.
  bool of_world = false;
};

// A dimension of the grid of a world's ranks. Ranks that differ in this dimension alone are a group
// of that name: they exchange contents among themselves. Expressions know the symbols NAME_rank,
// the number of the rank in its group, and NAME_ranks, the size of the group.
struct WorldGroup {
  std::string name = {};
  // The ranks of one group: an expression over `ranks` and symbols that the world does not set. The
  // shapes of inputs do not change symbols that a size names.
  Expression size = 1;
  SourceLocation where = {};

  friend bool operator==(const WorldGroup& a, const WorldGroup& b) {
    return a.name == b.name && a.size == b.size;
  }
};

// A program for several ranks, each on a device of its own. Its expressions know the symbols `rank`
// and `ranks`.
struct ProgramWorld {
  // Empty: any number from 1 on. Program sets it to the product of the groups' sizes if these are
  // numbers.
  std::optional<std::int64_t> ranks = {};
  SourceLocation where = {};
  // The dimensions of the grid of ranks. The product of their sizes is `ranks`. A group of the last
  // one has consecutive ranks.
  std::vector<WorldGroup> groups = {};

  friend bool operator==(const ProgramWorld& a, const ProgramWorld& b) {
    return a.ranks == b.ranks && a.groups == b.groups;
  }
};

enum class Relation : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};
// As it is written: "==", "<=".
BATON_API std::string_view to_string(Relation relation) noexcept;

// A comparison of two expressions over symbols, which must hold when the program is bound:
// "POS + STEPS <= T".
struct BATON_API Requirement {
  std::string name = {};  // says in messages what it is for; may be empty
  Expression left = 0;
  Relation relation = Relation::kEqual;
  Expression right = 0;
  SourceLocation where = {};

  // Parses a text. `place` is that of its first character. Throws kInvalidInput with the place
  // inside the text.
  explicit Requirement(std::string_view text, SourceLocation place = {});

  std::string text() const;

  BATON_API friend bool operator==(const Requirement& a, const Requirement& b);
};

// The values that tuning may give to a symbol instead of its default (baton/tune.h). The default is
// always among the candidates.
struct TuneParameter {
  std::string symbol = {};
  std::vector<Expression> values = {};  // over other symbols
  SourceLocation where = {};
};

BATON_API bool operator==(const ProgramSymbol& a, const ProgramSymbol& b);
BATON_API bool operator==(const TuneParameter& a, const TuneParameter& b);

struct ProgramDefinition {
  std::string name = {};
  std::filesystem::path file = {};                   // of the program; empty if it was built
  std::string text = {};                             // of the program file; empty if it was built
  std::filesystem::path directory = {};              // for quoted includes of kernels given as text
  std::vector<std::filesystem::path> included = {};  // the files that `text` includes, in any depth
  std::optional<ProgramWorld> world = {};            // empty: each process runs the program alone
  std::vector<ProgramSymbol> symbols = {};
  std::vector<Requirement> requirements = {};
  std::vector<TuneParameter> tune = {};
  std::vector<ProgramBuffer> buffers = {};
  std::vector<ProgramKernel> kernels = {};
  // Steps that are executed once when the program is bound, before any run. They use weights,
  // states and scratch buffers, and make weights that have no init and no file.
  std::vector<ProgramStep> setup = {};
  std::vector<ProgramStep> steps = {};
};

// A host program as a value: kernels, buffers, symbols and steps. It is checked as far as possible
// without a device, images and symbol values. Immutable and cheap to copy. Thread-safe.
class BATON_API Program {
 public:
  // Reads a program file (docs/program-file.md). Relative paths in it start from its folder. Throws
  // kNotFound for a missing file, otherwise kInvalidInput with file:line:column.
  static Program from_file(const std::filesystem::path& path);
  // Reads a program text. `name` is its name in messages.
  static Program from_text(std::string_view toml, std::string name,
                           const std::filesystem::path& directory = {});
  // Checks the parts and freezes them. Throws kInvalidInput or kNotFound (an unknown name).
  explicit Program(ProgramDefinition definition);

  const std::string& name() const { return definition_->name; }
  const std::filesystem::path& file() const { return definition_->file; }
  const std::string& text() const { return definition_->text; }
  const std::filesystem::path& directory() const { return definition_->directory; }
  // All parts, such as to make another program of them.
  const ProgramDefinition& definition() const { return *definition_; }
  const std::optional<ProgramWorld>& world() const { return definition_->world; }
  const std::vector<ProgramSymbol>& symbols() const { return definition_->symbols; }
  const std::vector<Requirement>& requirements() const { return definition_->requirements; }
  const std::vector<TuneParameter>& tune_parameters() const { return definition_->tune; }
  const std::vector<ProgramBuffer>& buffers() const { return definition_->buffers; }
  const std::vector<ProgramKernel>& kernels() const { return definition_->kernels; }
  const std::vector<ProgramStep>& setup() const { return definition_->setup; }
  const std::vector<ProgramStep>& steps() const { return definition_->steps; }
  // The symbols and buffers that the setup steps use, by name.
  const std::set<std::string, std::less<>>& setup_names() const { return *setup_names_; }
  // One sentence for each kernel, buffer and symbol that nothing uses, with its place.
  const std::vector<std::string>& warnings() const { return *warnings_; }

  // The program as a program file: reading it in the program's folder gives an equal program.
  // Throws kInvalidInput for a kernel in memory, and for an argument that a program file cannot
  // have.
  std::string to_toml() const;

  // Null where there is none of that name.
  const ProgramSymbol* symbol(std::string_view name) const;
  const ProgramBuffer* buffer(std::string_view name) const;
  const ProgramKernel* kernel(std::string_view name) const;

  // Equal apart from places and the file.
  BATON_API friend bool operator==(const Program& a, const Program& b);

 private:
  std::shared_ptr<const ProgramDefinition> definition_;
  std::shared_ptr<const std::vector<std::string>> warnings_;
  std::shared_ptr<const std::set<std::string, std::less<>>> setup_names_;
};

// Builds a program in C++, through the same checks as a program file:
//
//   ProgramBuilder builder("saxpy");
//   builder.symbol("N", 1 << 20);
//   builder.buffer({.name = "x", .shape = {"N"}, .role = BufferRole::kInput, .init = …});
//   builder.kernel({.name = "saxpy", .origin = KernelOrigin::kSource, .file = "saxpy.cu"});
//   builder.launch({.kernel = "saxpy", .grid = {"ceildiv(N, 256)"}, .block = {256},
//                   .args = {"y", "x", 2.0, "N"}});
//   Program program = builder.build();
//
// The trailing arguments note where in the C++ source each part was added: leave them out.
// Not thread-safe.
class BATON_API ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { definition_.name = std::move(name); }

  // Adds a symbol and returns the expression that names it.
  Expression symbol(std::string name, std::int64_t value, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE());
  // Makes the program one for several ranks: for that number, or for any.
  ProgramBuilder& world(std::optional<std::int64_t> ranks = {}, std::vector<WorldGroup> groups = {},
                        const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Adds a comparison that must hold, such as "N % 8 == 0". `name` says what it is for.
  ProgramBuilder& require(std::string_view comparison, std::string name = {},
                          const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Adds the values that tuning may give to a symbol.
  ProgramBuilder& tune(std::string symbol, std::vector<Expression> values,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Adds all parts of another program, as `include` of a program file does. A symbol that is added
  // later under the name of one of them takes its place.
  ProgramBuilder& include(const Program& program);
  ProgramBuilder& buffer(ProgramBuffer buffer, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  ProgramBuilder& kernel(ProgramKernel kernel, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  ProgramBuilder& launch(LaunchStep step, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  ProgramBuilder& copy(CopyStep step, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE());
  ProgramBuilder& fill(FillStep step, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE());
  ProgramBuilder& collective(CollectiveStep step, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE());
  // `body` adds the steps of the group to this builder.
  ProgramBuilder& repeat(Expression count, std::string index, const std::function<void()>& body,
                         const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // `body` adds the steps of the group to this builder, here and in `while_`.
  ProgramBuilder& if_(std::string buffer, const std::function<void()>& body,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE());
  ProgramBuilder& while_(std::string buffer, Expression at_most, Expression unroll,
                         const std::function<void()>& body, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  // Each function adds the steps of one branch to this builder.
  ProgramBuilder& parallel(const std::vector<std::function<void()>>& branches,
                           const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // `body` adds the setup steps to this builder. Not inside of a group.
  ProgramBuilder& setup(const std::function<void()>& body);

  // Returns the program; the builder remains usable. Throws the errors of Program's constructor.
  Program build() const { return Program(definition_); }

 private:
  ProgramBuilder& add(ProgramStep step);
  void collect(std::vector<ProgramStep>& steps, const std::function<void()>& body);
  ProgramDefinition definition_;
  std::size_t included_symbols_ = 0;             // the first symbols, which others may replace
  std::vector<std::vector<ProgramStep>*> open_;  // groups being filled, outermost first
};

}  // namespace baton
