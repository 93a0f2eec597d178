#include "ptx/flat.h"

#include <charconv>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"

namespace baton::ptx {

FlatFunction::FlatFunction(const Function& function) : function_(&function) {
  scopes_.emplace_back();
  for (const std::vector<Variable>* list : {&function.results, &function.params}) {
    for (const Variable& variable : *list) {
      if (!variable.name.empty()) declare(0, variable.name, &variable, variable.position);
    }
  }
  walk(function.body());
}

void FlatFunction::declare(std::uint32_t scope, std::string_view name, Meaning meaning,
                           Position at) {
  bool is_new = false;
  const auto* variable = std::get_if<const Variable*>(&meaning);
  if (variable != nullptr && (*variable)->range != 0) {
    is_new = scopes_[scope].ranges.try_emplace(name, *variable).second;
  } else {
    is_new = scopes_[scope].names.try_emplace(name, meaning).second;
  }
  if (!is_new) {
    throw function_->error(at, fmt::format("\"{}\" is declared twice in this scope of \"{}\"",
                                           printable(name), function_->name));
  }
}

// A walk over nested blocks in the order of the text: a traversal of a tree, not a dataflow
// analysis.
void FlatFunction::walk(const Block& body) {
  struct Open {
    const Block* block;
    std::size_t next;
    std::uint32_t scope;
  };
  std::vector<Open> open = {{&body, 0, 0}};
  const Loc* loc = nullptr;
  while (!open.empty()) {
    const std::uint32_t scope = open.back().scope;
    if (open.back().next == open.back().block->statements.size()) {
      open.pop_back();
      continue;
    }
    const auto& node = open.back().block->statements[open.back().next++].node;
    if (const auto* instruction = std::get_if<Instruction>(&node)) {
      instructions_.push_back({instruction, loc, scope, form_of(*instruction)});
    } else if (const auto* label = std::get_if<Label>(&node)) {
      declare(scope, label->name, static_cast<std::uint32_t>(instructions_.size()),
              label->position);
    } else if (const auto* line = std::get_if<Loc>(&node)) {
      loc = line;
    } else if (const auto* variable = std::get_if<Variable>(&node)) {
      if (!variable->name.empty()) declare(scope, variable->name, variable, variable->position);
    } else if (const auto* prototype = std::get_if<CallPrototype>(&node)) {
      declare(scope, prototype->name, prototype, prototype->position);
    } else if (const auto* targets = std::get_if<TargetList>(&node)) {
      declare(scope, targets->name, targets, targets->position);
    } else if (const auto* block = std::get_if<Block>(&node)) {
      open.push_back({block, 0, static_cast<std::uint32_t>(scopes_.size())});
      scopes_.emplace_back().parent = scope;
    }
  }
}

const FlatFunction::Meaning* FlatFunction::find(std::uint32_t scope, std::string_view name) const {
  for (;; scope = scopes_[scope].parent) {
    const auto found = scopes_[scope].names.find(name);
    if (found != scopes_[scope].names.end()) return &found->second;
    if (scope == 0) return nullptr;
  }
}

// %r12 of %r<20>, or of %r1<5>: every split into a name and the digits of an index is tried.
std::optional<FlatFunction::Register> FlatFunction::find_in_range(const Scope& scope,
                                                                  std::string_view name) const {
  if (scope.ranges.empty()) return std::nullopt;
  constexpr std::size_t kMostDigits = std::numeric_limits<std::uint32_t>::digits10 + 1;
  const std::size_t first = name.size() > kMostDigits ? name.size() - kMostDigits : 1;
  std::size_t split = name.size();
  while (split > first && name[split - 1] >= '0' && name[split - 1] <= '9') {
    --split;
    const auto range = scope.ranges.find(name.substr(0, split));
    if (range == scope.ranges.end()) continue;
    std::uint32_t index = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, status] = std::from_chars(name.data() + split, end, index);
    if (status == std::errc() && index < range->second->range) {
      return Register{range->second, index};
    }
  }
  return std::nullopt;
}

std::optional<FlatFunction::Register> FlatFunction::variable(std::uint32_t scope,
                                                             std::string_view name) const {
  for (;; scope = scopes_[scope].parent) {
    const auto found = scopes_[scope].names.find(name);
    if (found != scopes_[scope].names.end()) {
      const auto* variable = std::get_if<const Variable*>(&found->second);
      if (variable == nullptr) return std::nullopt;
      return Register{*variable, 0};
    }
    if (auto in_range = find_in_range(scopes_[scope], name)) return in_range;
    if (scope == 0) return std::nullopt;
  }
}

std::optional<std::uint32_t> FlatFunction::label(std::uint32_t scope, std::string_view name) const {
  const Meaning* meaning = find(scope, name);
  const auto* index = meaning == nullptr ? nullptr : std::get_if<std::uint32_t>(meaning);
  return index == nullptr ? std::nullopt : std::optional(*index);
}

const TargetList* FlatFunction::targets(std::uint32_t scope, std::string_view name) const {
  const Meaning* meaning = find(scope, name);
  const auto* list = meaning == nullptr ? nullptr : std::get_if<const TargetList*>(meaning);
  return list == nullptr ? nullptr : *list;
}

const CallPrototype* FlatFunction::prototype(std::uint32_t scope, std::string_view name) const {
  const Meaning* meaning = find(scope, name);
  const auto* found = meaning == nullptr ? nullptr : std::get_if<const CallPrototype*>(meaning);
  return found == nullptr ? nullptr : *found;
}

std::uint32_t FlatFunction::target(const FlatInstruction& branch, std::string_view name,
                                   Position at) const {
  if (const auto index = label(branch.scope, name)) return *index;
  throw function_->error(at, fmt::format("\"{}\" of \"{}\" is not a label in this scope",
                                         printable(name), branch.instruction->opcode));
}

std::vector<std::uint32_t> FlatFunction::branch_targets(const FlatInstruction& branch) const {
  const Instruction& instruction = *branch.instruction;
  const bool is_indexed = instruction.opcode == "brx";
  const std::size_t count = is_indexed ? 2 : 1;
  if (instruction.operands.size() != count ||
      instruction.operands.back().kind != InstructionOperand::Kind::kIdentifier) {
    throw function_->error(instruction.position,
                           is_indexed ? "\"brx\" takes a register and the name of a .branchtargets"
                                      : "\"bra\" takes one label");
  }
  const InstructionOperand& operand = instruction.operands.back();
  if (!is_indexed) return {target(branch, operand.text, operand.position)};
  const TargetList* list = targets(branch.scope, operand.text);
  if (list == nullptr || list->calls) {
    throw function_->error(
        operand.position,
        fmt::format("\"{}\" of \"brx\" is not a .branchtargets", printable(operand.text)));
  }
  std::vector<std::uint32_t> result;
  result.reserve(list->targets.size());
  for (std::string_view name : list->targets) {
    result.push_back(target(branch, name, list->position));
  }
  return result;
}

}  // namespace baton::ptx
