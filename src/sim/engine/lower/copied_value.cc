#include "sim/engine/lower/copied_value.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ptx/operand_use.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;
using Register = std::pair<const ptx::Variable*, std::uint32_t>;
using Registers = std::set<Register>;

// "[%rd3+4]" as text, whatever the space.
std::string text_of_address(const ptx::InstructionOperand& operand) {
  std::string text(operand.text);
  text += '+' + std::to_string(operand.offset);
  for (const ptx::InstructionOperand& child : operand.children) text += text_of_address(child);
  return text;
}

class CopySearch {
 public:
  CopySearch(const ptx::FlatFunction& function, std::uint32_t load, std::uint32_t end)
      : function_(function), load_(load), end_(end) {
    const ptx::Instruction& insn = *function.instructions()[load].instruction;
    const auto address =
        std::ranges::find(insn.operands, Kind::kAddress, &ptx::InstructionOperand::kind);
    if (address != insn.operands.end()) address_ = text_of_address(*address);
    collect(function.instructions()[load], 0, &values_);
  }

  bool run() {
    for (std::uint32_t k = 0; k < function_.instructions().size(); ++k) {
      if (k != load_ && !passes(k)) return false;
    }
    return true;
  }

 private:
  // False where the instruction does something else with the value, or writes its registers.
  bool passes(std::uint32_t k) {
    const ptx::FlatInstruction& flat = function_.instructions()[k];
    const ptx::Instruction& insn = *flat.instruction;
    Registers read, written;
    for (std::size_t o = 0; o < insn.operands.size(); ++o) {
      const bool writes = ptx::writes_operand(insn, o);
      if (writes) collect(flat, o, &written);
      if (!writes || ptx::updates_operand(insn, o)) collect(flat, o, &read);
    }
    const bool reads_value = meets(read, values_);
    const bool reads_bits = meets(read, bits_);
    if (meets(written, values_) || meets(written, bits_)) return false;
    if (!reads_value && !reads_bits) return true;
    if (k < load_ || k >= end_ || !insn.guard.empty()) return false;
    if (insn.opcode == "st") return stores(flat, reads_bits);
    const bool copies = insn.opcode == "mov" || insn.opcode == "cvt";
    const bool changes_bits = insn.opcode == "and" || insn.opcode == "or" || insn.opcode == "bfi";
    if (!copies && !changes_bits) return false;
    (changes_bits || reads_bits ? bits_ : values_).insert(written.begin(), written.end());
    return true;
  }

  // Of a store that reads what was loaded: not as its address, and, with other bits in it, only
  // back to where it came from.
  bool stores(const ptx::FlatInstruction& flat, bool bits) const {
    for (std::size_t o = 0; o < flat.instruction->operands.size(); ++o) {
      const ptx::InstructionOperand& operand = flat.instruction->operands[o];
      if (operand.kind != Kind::kAddress) continue;
      Registers address;
      collect(flat, o, &address);
      if (meets(address, values_) || meets(address, bits_)) return false;
      if (bits && text_of_address(operand) != address_) return false;
    }
    return true;
  }

  static bool meets(const Registers& some, const Registers& others) {
    return std::ranges::any_of(some, [&](const Register& each) { return others.contains(each); });
  }

  void collect(const ptx::FlatInstruction& flat, std::size_t operand, Registers* found) const {
    collect(flat, flat.instruction->operands.at(operand), found);
  }
  void collect(const ptx::FlatInstruction& flat, const ptx::InstructionOperand& operand,
               Registers* found) const {
    const auto name = function_.variable(flat.scope, operand.text);
    if (name && name->variable->space == ptx::StateSpace::kReg) {
      found->insert({name->variable, name->index});
    }
    for (const ptx::InstructionOperand& child : operand.children) collect(flat, child, found);
  }

  const ptx::FlatFunction& function_;
  const std::uint32_t load_;
  const std::uint32_t end_;  // of its basic block
  std::string address_;
  Registers values_;  // that hold what was loaded
  Registers bits_;    // that hold some of its bits
};

}  // namespace

bool is_only_copied(const ptx::FlatFunction& function, const ptx::ControlFlow& flow,
                    std::uint32_t load) {
  return CopySearch(function, load, flow.blocks()[flow.block_of(load)].end).run();
}

}  // namespace baton::sim
