#include "pdl/rewrite/body_effects.h"

#include <algorithm>

#include "ptx/traversal.h"

namespace baton::overlap {

using Kind = Operation::Kind;

bool is_call(const Operation& operation) {
  return operation.instruction != nullptr && operation.instruction->opcode == "call";
}

std::string_view verb_of(const AccessGroup& access) {
  return access.reads && access.writes ? "reads and writes memory"
         : access.reads                ? "reads memory"
                                       : "writes memory";
}

BodyEffects::BodyEffects(const Footprint& footprint, const EarlyWork& early)
    : code_(*footprint.code),
      body_(*code_.kernel),
      flow_(body_),
      access_of_(code_.operations.size(), nullptr),
      depends_(code_.operations.size()),
      effects_(body_.instructions().size()) {
  for (const AccessGroup& access : footprint.accesses) {
    const bool is_early = may_be_early(footprint, access, early);
    for (std::uint32_t operation : access.operations) {
      access_of_[operation] = &access;
      depends_[operation] = !is_early || code_.operations[operation].orders;
    }
  }
  // The operations of a callee are one call's alone, so one set serves for all calls.
  std::vector<bool> seen(code_.operations.size());
  for (std::uint32_t at = 0; at < size(); ++at) {
    note(effects_[at], at);
    if (is_call(code_.operations[at])) note_call(at, seen);
  }
}

// The call of a failed assertion ends the grid with an error, as a trap does, so it need not wait.
bool BodyEffects::is_failed_assertion(const Operation& operation) const {
  constexpr std::string_view kName = "__assertfail";
  const auto& operands = operation.instruction->operands;
  const ptx::Function* function = code_.module->function(kName);
  return function != nullptr && !function->has_body && function->linkage == "extern" &&
         std::any_of(operands.begin(), operands.end(), [&](const ptx::InstructionOperand& operand) {
           return operand.kind == ptx::InstructionOperand::Kind::kIdentifier &&
                  operand.text == kName;
         });
}

bool BodyEffects::is_side_effect(const Operation& operation) const {
  if (operation.kind == Kind::kOpen) return true;
  return operation.kind == Kind::kCompute && is_call(operation) && !is_failed_assertion(operation);
}

// The callee's operations come after the end of the kernel's own.
void BodyEffects::note_call(std::uint32_t at, std::vector<bool>& seen) {
  Effect& effect = effects_[at];
  const std::uint32_t end = size();
  const auto follow = [&](std::uint32_t from, const auto& go) {
    for (std::uint32_t to : code_.operations[from].next) {
      if (to > end) go(to);
      // A callee may end the thread, which then executes nothing after the call.
      if (to == end && from != at) effect.dependent = std::min(effect.dependent, from);
    }
  };
  std::vector<std::uint32_t> entries;
  follow(at, [&](std::uint32_t to) { entries.push_back(to); });
  ptx::mark_reachable(seen, entries, [&](std::uint32_t inner, const auto& go) {
    note(effect, inner);
    follow(inner, go);
  });
}

void BodyEffects::note(Effect& effect, std::uint32_t operation) const {
  const Operation& what = code_.operations[operation];
  const AccessGroup* access = access_of_[operation];
  if (is_side_effect(what) || depends(operation)) {
    effect.dependent = std::min(effect.dependent, operation);
  }
  effect.loads |=
      what.kind == Kind::kOpen || what.kind == Kind::kWait || (access != nullptr && access->reads);
}

}  // namespace baton::overlap
