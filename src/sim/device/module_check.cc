#include "sim/device/module_check.h"

#include <fmt/core.h>

#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/text/text.h"
#include "ptx/isa.h"
#include "sim/engine/run/builtin.h"

namespace baton::sim {
namespace {

using Names = std::unordered_set<std::string_view>;

// The version of PTX whose opcodes isa.inc has all. A newer module may have others.
constexpr std::pair kTableVersion(9, 0);

const Names& opcodes() {
  static const auto& names = *[] {
    auto* all = new Names;
    for (const ptx::Form& form : ptx::forms()) all->insert(form.opcode);
    return all;
  }();
  return names;
}

// Names that the module declares and does not define. The functions of CUDA's device runtime are
// left to who refuses launches by kernels.
Names undefined_names(const ptx::ParsedModule& module) {
  Names names;
  for (const ptx::TopLevel& item : module.items()) {
    if (const auto* function = std::get_if<ptx::Function>(&item)) {
      const bool is_known = find_builtin(function->name) != nullptr ||
                            function->name.starts_with("cuda") ||
                            function->name.starts_with("__cuda");
      if (!is_known && !module.function(function->name)->has_body) names.insert(function->name);
    } else if (const auto* variable = std::get_if<ptx::Variable>(&item)) {
      const ptx::Variable& meant = *module.variable(variable->name);
      if (meant.linkage == "extern" && meant.space != ptx::StateSpace::kShared) {
        names.insert(meant.name);
      }
    }
  }
  return names;
}

class BodyCheck {
 public:
  BodyCheck(const ptx::Function& function, const Names& undefined, bool knows_opcodes)
      : function_(function), undefined_(undefined), knows_opcodes_(knows_opcodes) {}

  void check(const ptx::Block& block) const {
    for (const ptx::Statement& statement : block.statements) {
      if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) check(*inner);
      const auto* insn = std::get_if<ptx::Instruction>(&statement.node);
      if (insn == nullptr) continue;
      if (knows_opcodes_ && !opcodes().contains(insn->opcode)) {
        throw function_.error(
            insn->position, fmt::format("PTX has no instruction \"{}\"", printable(insn->opcode)));
      }
      if (undefined_.empty()) continue;
      for (const ptx::InstructionOperand& operand : insn->operands) check(*insn, operand);
    }
  }

 private:
  void check(const ptx::Instruction& insn, const ptx::InstructionOperand& operand) const {
    if (undefined_.contains(operand.text)) {
      throw function_.error(insn.position,
                            fmt::format("\"{}\" is extern and nothing defines it: link the module "
                                        "with the one that does",
                                        printable(operand.text)));
    }
    for (const ptx::InstructionOperand& child : operand.children) check(insn, child);
  }

  const ptx::Function& function_;
  const Names& undefined_;
  const bool knows_opcodes_;
};

}  // namespace

void check_module(const ptx::ParsedModule& module) {
  const Names undefined = undefined_names(module);
  const bool knows_opcodes =
      std::pair(module.version_major(), module.version_minor()) <= kTableVersion;
  for (const ptx::TopLevel& item : module.items()) {
    const auto* function = std::get_if<ptx::Function>(&item);
    if (function == nullptr || !function->has_body) continue;
    BodyCheck(*function, undefined, knows_opcodes).check(function->body());
  }
}

}  // namespace baton::sim
