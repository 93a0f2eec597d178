#include "pdl/rewrite/last_iteration.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "ptx/isa.h"
#include "ptx/printer.h"

namespace baton::overlap {
namespace {

using ptx::FlatFunction;
using ptx::Instruction;
using ptx::InstructionOperand;

// More is more than a trigger gains.
constexpr std::size_t kMostRepeated = 8;

// Of the registers that it is done into, which hide none of the kernel's.
constexpr std::string_view kPrefix = "%baton";

// The same name may be another register in another scope.
using Register = std::pair<const ptx::Variable*, std::uint32_t>;

class Registers {
 public:
  Registers(const FlatFunction& body, std::uint32_t at)
      : body_(body), scope_(body.instructions()[at].scope) {}

  std::optional<Register> of(std::string_view name) const {
    const auto found = body_.variable(scope_, name);
    if (!found || found->variable->space != ptx::StateSpace::kReg) return std::nullopt;
    return Register(found->variable, found->index);
  }

  // All that the operand names.
  void each(const InstructionOperand& operand,
            const std::function<void(const Register&)>& visit) const {
    if (operand.kind == InstructionOperand::Kind::kIdentifier) {
      if (const auto found = of(operand.text)) visit(*found);
    }
    for (const InstructionOperand& child : operand.children) each(child, visit);
  }

 private:
  const FlatFunction& body_;
  const std::uint32_t scope_;
};

bool reads_volatile(const InstructionOperand& operand) {
  return operand.kind == InstructionOperand::Kind::kIdentifier
             ? ptx::is_volatile(operand.text)
             : std::any_of(operand.children.begin(), operand.children.end(), reads_volatile);
}

// Whether it gives the same twice and touches nothing but its destination.
bool is_repeatable(const ptx::FlatInstruction& flat) {
  const Instruction& instruction = *flat.instruction;
  if (!instruction.guard.empty() || instruction.operands.empty()) return false;
  if (flat.form == nullptr) return false;
  const bool loads_param = instruction.opcode == "ld" && instruction.has("param");
  if (flat.form->kind != ptx::Form::Kind::kPure && !loads_param) return false;
  return std::none_of(instruction.operands.begin(), instruction.operands.end(), reads_volatile);
}

class GuardDuplicator {
 public:
  explicit GuardDuplicator(const FlatFunction& body) : body_(body) {}

  std::string text(const LastIteration& iteration, std::string_view instruction) {
    std::string repeated;
    for (std::uint32_t at : iteration.repeated) repeated += again(at);
    const Instruction& branch = *body_.instructions()[iteration.branch].instruction;
    const auto decides = Registers(body_, iteration.branch).of(branch.guard);
    const auto own = decides ? own_.find(*decides) : own_.end();
    const bool negated = branch.guard_negated == iteration.leaves_where_taken;
    const std::string guarded =
        fmt::format("@{}{} {}", negated ? "!" : "",
                    own != own_.end() ? std::string_view(own->second) : branch.guard, instruction);
    if (iteration.repeated.empty()) return guarded;
    return fmt::format("{{ {}{}{}}} ", declared_, repeated, guarded);
  }

 private:
  // The instruction with what has been done before it, and a destination of its own.
  std::string again(std::uint32_t at) {
    const Registers registers(body_, at);
    Instruction copy = *body_.instructions()[at].instruction;
    for (std::size_t i = 1; i < copy.operands.size(); ++i) rename(copy.operands[i], registers);
    registers.each(copy.operands[0], [&](const Register& destination) {
      const std::string& name = names_.emplace_back(fmt::format("{}{}", kPrefix, names_.size()));
      const ptx::Variable& variable = *destination.first;
      declared_ += fmt::format(".reg .{} {}; ", variable.type, name);
      own_[destination] = name;
    });
    rename(copy.operands[0], registers);
    std::string text = ptx::print(copy);
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.empty() || text.back() != ' ') text += ' ';
    return text;
  }

  void rename(InstructionOperand& operand, const Registers& registers) const {
    if (operand.kind == InstructionOperand::Kind::kIdentifier) {
      const auto found = registers.of(operand.text);
      const auto own = found ? own_.find(*found) : own_.end();
      if (own != own_.end()) operand.text = own->second;
    }
    for (InstructionOperand& child : operand.children) rename(child, registers);
  }

  const FlatFunction& body_;
  std::deque<std::string> names_;
  std::map<Register, std::string_view> own_;
  std::string declared_;
};

// Whether the text of the repeated instructions and of the branch's guard means before instruction
// `at` what it means where it is written. An inner scope may declare a name again.
class SameNames {
 public:
  SameNames(const FlatFunction& body, std::uint32_t at)
      : body_(body), scope_(body.instructions()[at].scope) {}

  bool hold(std::span<const std::uint32_t> repeated, std::uint32_t branch) {
    for (std::uint32_t each : repeated) {
      const Instruction& instruction = *body_.instructions()[each].instruction;
      for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
        if (!hold(instruction.operands[i], each)) return false;
      }
      Registers(body_, each).each(instruction.operands[0], [&](const Register& own) {
        own_.insert(own);
      });
    }
    return holds(body_.instructions()[branch].instruction->guard, branch);
  }

 private:
  bool hold(const InstructionOperand& operand, std::uint32_t written) const {
    if (operand.kind == InstructionOperand::Kind::kIdentifier && !holds(operand.text, written))
      return false;
    return std::all_of(operand.children.begin(), operand.children.end(),
                       [&](const InstructionOperand& child) { return hold(child, written); });
  }

  bool holds(std::string_view name, std::uint32_t written) const {
    const auto there = body_.variable(body_.instructions()[written].scope, name);
    const auto here = body_.variable(scope_, name);
    if (there && own_.contains({there->variable, there->index})) return true;
    return there.has_value() == here.has_value() &&
           (!there || (there->variable == here->variable && there->index == here->index));
  }

  const FlatFunction& body_;
  const std::uint32_t scope_;
  std::set<Register> own_;  // what the repeated instructions write, under names of its own
};

}  // namespace

std::optional<std::vector<std::uint32_t>> deciding(const FlatFunction& body,
                                                   std::span<const std::uint32_t> path,
                                                   std::uint32_t branch, std::uint32_t at) {
  if (body.function().body_text().find(kPrefix) != std::string_view::npos) return std::nullopt;
  const Instruction& leaves = *body.instructions()[branch].instruction;
  const auto decides = Registers(body, branch).of(leaves.guard);
  if (!decides) return std::nullopt;
  std::set<Register> needed = {*decides};
  std::vector<std::uint32_t> repeated;
  for (auto each = path.rbegin(); each != path.rend(); ++each) {
    const Instruction& instruction = *body.instructions()[*each].instruction;
    if (instruction.opcode == "call") return std::nullopt;
    if (instruction.operands.empty()) continue;
    const Registers registers(body, *each);
    const InstructionOperand& first = instruction.operands[0];
    bool gives = false;
    if (first.kind != InstructionOperand::Kind::kAddress) {
      registers.each(first, [&](const Register& one) { gives |= needed.contains(one); });
    }
    if (!gives) continue;
    if (!is_repeatable(body.instructions()[*each]) || repeated.size() == kMostRepeated)
      return std::nullopt;
    registers.each(first, [&](const Register& one) { needed.erase(one); });
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      registers.each(instruction.operands[i], [&](const Register& one) { needed.insert(one); });
    }
    repeated.push_back(*each);
  }
  std::reverse(repeated.begin(), repeated.end());
  if (!SameNames(body, at).hold(repeated, branch)) return std::nullopt;
  return repeated;
}

std::string emit_in_last_iteration(const FlatFunction& body, const LastIteration& iteration,
                                   std::string_view instruction) {
  return GuardDuplicator(body).text(iteration, instruction);
}

}  // namespace baton::overlap
