#include "sim/engine/lower/function.h"

#include <fmt/core.h>

#include "ptx/inlining.h"

namespace baton::sim {
namespace {

std::string file_place(const ptx::ParsedModule& module, std::uint32_t file, std::uint32_t line,
                       std::uint32_t column) {
  std::string_view name = module.file(file);
  if (name.empty()) name = "?";
  return column == 0 ? fmt::format("{}:{}", name, line)
                     : fmt::format("{}:{}:{}", name, line, column);
}

}  // namespace

std::string place_of(const ptx::ParsedModule& module, const Site& site) {
  if (site.loc != nullptr && site.loc->line != 0) {
    std::string place = file_place(module, site.loc->file, site.loc->line, site.loc->column);
    for (const ptx::Loc::Inlined& at : ptx::inlined_places(module, *site.loc)) {
      place += fmt::format(" (inlined at {})", file_place(module, at.file, at.line, at.column));
    }
    return place;
  }
  if (site.instruction == nullptr) return fmt::format("{}", module.name());
  return fmt::format("{}:{}:{}", module.name(), site.instruction->position.line,
                     site.instruction->position.column);
}

namespace {

void write_operand(const ptx::InstructionOperand& operand, std::string* out) {
  using Kind = ptx::InstructionOperand::Kind;
  const auto list = [&](const char* open, const char* separator, const char* close) {
    *out += open;
    for (std::size_t k = 0; k < operand.children.size(); ++k) {
      if (k != 0) *out += separator;
      write_operand(operand.children[k], out);
    }
    *out += close;
  };
  const auto offset = [&] {
    if (operand.offset != 0) *out += fmt::format("{:+}", operand.offset);
  };
  switch (operand.kind) {
    case Kind::kAddress:
      *out += "[";
      for (std::size_t k = 0; k < operand.children.size(); ++k) {
        if (k != 0) *out += ", ";
        write_operand(operand.children[k], out);
        if (k == 0) offset();
      }
      *out += "]";
      break;
    case Kind::kVector:
      list("{", ", ", "}");
      break;
    case Kind::kGroup:
      list("(", ", ", ")");
      break;
    case Kind::kPair:
      list("", "|", "");
      break;
    case Kind::kCall:
      *out += operand.text;
      list("(", ", ", ")");
      break;
    default:
      if (operand.negated) *out += "!";
      *out += operand.text;
      offset();
      break;
  }
}

}  // namespace

std::string text_of(const ptx::Instruction& instruction) {
  std::string text;
  if (!instruction.guard.empty()) {
    text += fmt::format("@{}{} ", instruction.guard_negated ? "!" : "", instruction.guard);
  }
  text += instruction.opcode;
  for (std::string_view modifier : instruction.modifiers) text += fmt::format(".{}", modifier);
  for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
    text += k == 0 ? " " : ", ";
    write_operand(instruction.operands[k], &text);
  }
  return text;
}

}  // namespace baton::sim
