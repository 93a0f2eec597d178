#include "trace/kernel_events.h"

#include <fmt/core.h>

#include <variant>

#include "ptx/flat.h"

namespace baton::trace {
namespace {

void collect_names(const ptx::InstructionOperand& operand,
                   std::unordered_set<std::string_view>& names) {
  if (operand.kind == ptx::InstructionOperand::Kind::kIdentifier) names.insert(operand.text);
  for (const ptx::InstructionOperand& child : operand.children) collect_names(child, names);
}

}  // namespace

std::unordered_set<std::string_view> used_names(const ptx::ParsedModule& module) {
  std::unordered_set<std::string_view> names, entries;
  for (const ptx::TopLevel& item : module.items()) {
    if (const auto* variable = std::get_if<ptx::Variable>(&item)) {
      for (const auto& value : variable->initialiser) collect_names(value, names);
    } else if (const auto* directive = std::get_if<ptx::Directive>(&item)) {
      for (const auto& operand : directive->operands) collect_names(operand, names);
    } else if (const auto* function = std::get_if<ptx::Function>(&item)) {
      if (function->is_entry && !entries.insert(function->name).second) {
        names.insert(function->name);
      }
      if (!function->has_body) continue;
      const ptx::FlatFunction body(*function);
      for (const ptx::FlatInstruction& flat : body.instructions()) {
        for (const auto& operand : flat.instruction->operands) collect_names(operand, names);
      }
    }
  }
  return names;
}

std::string CalledEvents::missed_by(const ptx::Function& kernel) {
  const image::Reached reached = reach_.from(kernel);
  if (reached.is_open) return "it calls a function that its PTX does not show";
  for (const ptx::Function* function : reached.called) {
    const std::string_view does = event_of(*function);
    if (does.empty()) continue;
    return fmt::format("it calls {}, which {}, and only what a kernel does itself is noted",
                       function->name, does);
  }
  return "";
}

std::string_view CalledEvents::event_of(const ptx::Function& function) {
  const auto [found, is_new] = events_.try_emplace(&function);
  if (!is_new) return found->second;
  const ptx::FlatFunction body(function);
  for (const ptx::FlatInstruction& flat : body.instructions()) {
    const ptx::Instruction& i = *flat.instruction;
    found->second = is_wait(i)           ? "waits"
                    : is_trigger(i)      ? "triggers"
                    : i.opcode == "exit" ? "exits"
                                         : "";
    if (!found->second.empty()) break;
  }
  return found->second;
}

}  // namespace baton::trace
