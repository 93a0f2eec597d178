#include "sim/engine/lower/outright_use.h"

#include <map>
#include <utility>

#include "ptx/operand_use.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;
using Register = std::pair<const ptx::Variable*, std::uint32_t>;

// What a register holds of the value.
enum class Holds : std::uint8_t {
  kValue,     // the value itself, or a copy
  kResult,    // what was computed of it, which nothing has selected yet
  kSelected,  // the same, and a selection read it
};

class UseSearch {
 public:
  UseSearch(const ptx::FlatFunction& function, std::uint32_t begin) : function_(function) {
    const ptx::FlatInstruction& first = function.instructions()[begin];
    each_register(first, 0, [&](const Register& written) { held_[written] = Holds::kValue; });
  }

  // True where the instruction uses the value outright.
  bool passes(const ptx::FlatInstruction& flat) {
    const ptx::Instruction& insn = *flat.instruction;
    bool reads = false;
    bool reads_result = false;
    std::vector<Register> written;
    const bool selects = insn.opcode == "selp" || insn.opcode == "slct" || !insn.guard.empty();
    for (std::size_t o = 0; o < insn.operands.size(); ++o) {
      const bool writes = ptx::writes_operand(insn, o);
      if (writes) each_register(flat, o, [&](const Register& r) { written.push_back(r); });
      if (writes && !ptx::updates_operand(insn, o)) continue;
      each_register(flat, o, [&](const Register& read) {
        const auto held = held_.find(read);
        if (held == held_.end()) return;
        reads = true;
        reads_result = reads_result || held->second != Holds::kValue;
        if (selects && held->second == Holds::kResult) held->second = Holds::kSelected;
      });
    }
    if (selects) return false;
    // Another store may be of a variable of the thread, in code for a debugger.
    const bool keeps = insn.opcode == "st" && !insn.has("global") && !insn.has("shared");
    if (keeps && !reads_result) return false;
    if (reads && (reads_result || written.empty())) return true;
    const bool copies = insn.opcode == "mov" || insn.opcode == "cvt";
    for (const Register& each : written) {
      if (reads) {
        held_[each] = copies ? Holds::kValue : Holds::kResult;
      } else {
        held_.erase(each);
      }
    }
    return false;
  }

  bool has_result() const {
    for (const auto& [each, holds] : held_) {
      if (holds == Holds::kResult) return true;
    }
    return false;
  }

 private:
  template <class Visit>
  void each_register(const ptx::FlatInstruction& flat, const ptx::InstructionOperand& operand,
                     Visit& visit) const {
    if (operand.kind == Kind::kIdentifier) {
      const auto found = function_.variable(flat.scope, operand.text);
      if (found && found->variable->space == ptx::StateSpace::kReg) {
        visit(Register{found->variable, found->index});
      }
      return;
    }
    for (const ptx::InstructionOperand& child : operand.children) {
      each_register(flat, child, visit);
    }
  }
  template <class Visit>
  void each_register(const ptx::FlatInstruction& flat, std::size_t operand, Visit visit) const {
    each_register(flat, flat.instruction->operands.at(operand), visit);
  }

  const ptx::FlatFunction& function_;
  std::map<Register, Holds> held_;
};

}  // namespace

bool is_used_outright(const ptx::FlatFunction& function, const ptx::ControlFlow& flow,
                      std::uint32_t instruction) {
  UseSearch search(function, instruction);
  const std::uint32_t end = flow.blocks()[flow.block_of(instruction)].end;
  for (std::uint32_t k = instruction + 1; k < end; ++k) {
    if (search.passes(function.instructions()[k])) return true;
  }
  // A result that is left at the end goes on to what follows.
  return search.has_result();
}

}  // namespace baton::sim
