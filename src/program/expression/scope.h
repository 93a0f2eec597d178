#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "baton/program.h"

namespace baton {

class ExpressionCode;

// A group inside a group, and so on: at most this many levels.
inline constexpr std::size_t kMaxGroupDepth = 16;

// Adds the part's place to errors that have none.
template <typename Part, typename Check>
void located(const Part& part, Check&& check) {
  try {
    check();
  } catch (Error& failure) {
    failure.at(part.where);
    throw;
  }
}

// The names that a part of a program may use: symbols, buffers, kernels, and the indexes of the
// open groups. Checks throw kInvalidInput, or kNotFound for an unknown name, at the place of the
// name. Refers to the program, which must outlive it.
class ProgramScope {
 public:
  explicit ProgramScope(const ProgramDefinition& program) : program_(program) {
    kernels_.reserve(program.kernels.size());
  }

  // The steps that are checked from now on are those of the setup, and no name is used yet.
  void begin_setup();
  // Adds the names that another scope of the same program used.
  void add_used(const ProgramScope& other);

  void declare(const ProgramSymbol& symbol);
  void declare(const ProgramBuffer& buffer);
  void declare(const ProgramKernel& kernel);

  // A group's index is known from `open_group` to `close_group`. Groups nest kMaxGroupDepth deep.
  // An empty index is none.
  void open_group(const std::string& index, const SourceLocation& where);
  void close_group(const std::string& index);

  // The branches of a parallel, in the group that was opened last. What is checked after
  // `begin_branch` belongs to that branch.
  void open_events() { events_.push_back({depth_, 0, {}}); }
  void begin_branch(std::size_t branch) { events_.back().branch = branch; }
  void close_events() { events_.pop_back(); }
  // A launch at `where` records the event, or comes after it. It must be itself a step of a branch,
  // and come after events of earlier branches alone.
  void record_event(const std::string& name, const SourceLocation& where);
  void check_event(const std::string& name, const SourceLocation& where) const;

  bool has_world() const { return program_.world.has_value(); }
  // Whether the name is a symbol that the world sets.
  bool is_of_world(std::string_view name) const;
  bool is_buffer(std::string_view name) const;
  bool has_kernel(std::string_view name) const;
  // Whether the checks so far met the name of a symbol or a buffer.
  bool is_used(std::string_view name) const { return names_.find(name)->second.is_used; }
  // Whether they met a kernel: it is launched, or has a variable that is a buffer.
  bool is_used_kernel(std::string_view name) const { return kernels_.at(name); }
  // The symbols and buffers that they met.
  std::set<std::string, std::less<>> used_names() const;
  // The kernel of a step at `where`.
  void check_kernel(const std::string& name, const SourceLocation& where) const;
  // The buffer of a name that is used at `where`.
  const ProgramBuffer& buffer(const std::string& name, const SourceLocation& where) const;

  // Every name must be a symbol or an index.
  void check_names(const ExpressionCode& code) const;
  // No name, all known, may be an index.
  void require_symbols(const ExpressionCode& code, std::string_view what) const;
  // The same for an argument: a lone unknown name may have been meant for a buffer.
  void check_argument_names(const ExpressionCode& code) const;
  // Also that a literal is not below `least`. `what` names the expression in messages: a text, or
  // a function that makes one.
  void check(const Expression& expression, std::string_view what, std::int64_t least) const {
    check(
        expression, [what] { return what; }, least);
  }
  template <std::invocable What>
  void check(const Expression& expression, const What& what, std::int64_t least) const {
    check_names(*expression.code());
    const auto literal = expression.literal();
    if (literal && *literal < least) refuse_literal(expression, what(), least);
  }
  const ProgramBuffer& check(const BufferOffset& place) const;
  void check(ProgramAttributes& attributes) const;
  // The buffer whose first element a step at `where` tests.
  void check_condition(const std::string& name, const SourceLocation& where) const;
  // A step at `where` that all ranks take together, in one order: the program has a world, and the
  // step is not one of the setup or of a branch.
  void check_collective(std::string_view name, const SourceLocation& where) const;
  // The group of ranks of a name that is used at `where`; an empty name stands for all ranks.
  void check_group(std::string_view name, const SourceLocation& where) const;
  // The target of a copy or a fill. `what` names the step.
  void check_writable(const ProgramBuffer& target, std::string_view what) const;

 private:
  struct Declared {
    const char* kind;  // "symbol", "buffer", "index"
    const SourceLocation* where;
    const ProgramBuffer* buffer = nullptr;
    mutable bool is_used = false;
  };

  // The events of a parallel, and the branch that records each of them.
  struct Events {
    std::size_t depth = 0;  // nesting of the steps in its branches
    std::size_t branch = 0;
    std::map<std::string, std::size_t, std::less<>> recorded;
  };

  void declare(std::string_view name, const Declared& declared);
  [[noreturn]] static void refuse_literal(const Expression& expression, std::string_view what,
                                          std::int64_t least);
  void require_branch(const std::string& event, const SourceLocation& where) const;

  const ProgramDefinition& program_;
  // Names are the program's own.
  std::map<std::string_view, Declared> names_;
  mutable std::unordered_map<std::string_view, bool> kernels_;  // whether they are used
  std::vector<Events> events_;  // of the open parallels, the innermost last
  std::size_t depth_ = 0;
  bool is_setup_ = false;
};

}  // namespace baton
