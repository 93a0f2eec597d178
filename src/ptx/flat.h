#pragma once

// A function as a list of instructions with its names resolved: blocks are gone, the scopes that
// they stood for remain.

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ptx/ast.h"
#include "ptx/isa.h"

namespace baton::ptx {

struct FlatInstruction {
  const Instruction* instruction = nullptr;
  const Loc* loc = nullptr;  // the .loc in force, or null
  std::uint32_t scope = 0;
  const Form* form = nullptr;  // what it does; null where the table of instructions lacks it

  bool is(Form::Kind kind) const { return form != nullptr && form->kind == kind; }
};

// Points into the function's module, which must outlive it. Immutable, so thread-safe.
class FlatFunction {
 public:
  // Throws Error(kInvalidInput) where the body does not parse or declares a name twice in a scope.
  explicit FlatFunction(const Function& function);

  const Function& function() const { return *function_; }
  const std::vector<FlatInstruction>& instructions() const { return instructions_; }

  // What a name means in a scope, looked up outwards; parameters of the function are in the
  // outermost scope, 0. Null or nothing where it is not declared or is another kind of thing.
  // `index` of a register of a range is the N of %rN, else 0. Names of the module are not found.
  struct Register {
    const Variable* variable = nullptr;
    std::uint32_t index = 0;
  };
  std::optional<Register> variable(std::uint32_t scope, std::string_view name) const;
  // The index of the first instruction after a label; the number of instructions for one at the
  // end.
  std::optional<std::uint32_t> label(std::uint32_t scope, std::string_view name) const;
  const TargetList* targets(std::uint32_t scope, std::string_view name) const;
  const CallPrototype* prototype(std::uint32_t scope, std::string_view name) const;

  // The instructions that a bra or brx.idx names. Throws Error(kInvalidInput) where it names
  // something that is not a label.
  std::vector<std::uint32_t> branch_targets(const FlatInstruction& branch) const;

 private:
  using Meaning =
      std::variant<const Variable*, std::uint32_t, const TargetList*, const CallPrototype*>;
  struct Scope {
    std::uint32_t parent = 0;  // its own number for the outermost
    std::unordered_map<std::string_view, Meaning> names;
    std::unordered_map<std::string_view, const Variable*> ranges;  // %r<9> as "%r"
  };

  void declare(std::uint32_t scope, std::string_view name, Meaning meaning, Position at);
  void walk(const Block& body);
  const Meaning* find(std::uint32_t scope, std::string_view name) const;
  std::optional<Register> find_in_range(const Scope& scope, std::string_view name) const;
  std::uint32_t target(const FlatInstruction& branch, std::string_view name, Position at) const;

  const Function* function_;
  std::vector<FlatInstruction> instructions_;
  std::vector<Scope> scopes_;
};

}  // namespace baton::ptx
