#include "pdl/code/runtime_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace baton::overlap {
namespace {

constexpr std::string_view kPrint = "vprintf";

// Whether the text has a conversion %s, such as "%-8s".
bool prints_string(std::string_view format) {
  for (std::size_t at = format.find('%'); at < format.size(); at = format.find('%', at + 1)) {
    at = format.find_first_not_of("-+ #0123456789.*hlLjzt", at + 1);
    if (at >= format.size()) break;
    if (format[at] == 's') return true;
  }
  return false;
}

// An array of bytes with contents.
std::string contents_of(const ptx::Variable& variable) {
  const ptx::InstructionOperand& contents = variable.initialiser[0];
  std::string text(contents.text);
  // Numbers of several bytes may hold text, too; their bytes come in order.
  for (const ptx::InstructionOperand& number : contents.children) {
    for (std::uint64_t rest = number.bits, k = 0; k < 8 && (k == 0 || rest != 0); ++k) {
      text += static_cast<char>(rest & 0xff);
      rest >>= 8;
    }
  }
  return text;
}

}  // namespace

bool is_known_call(std::string_view function) {
  return function == "malloc" || function == "free" || function == "__assertfail" ||
         function == "cudaGraphSetConditional" || function == kPrint;
}

bool prints_text(const Operation& operation) {
  if (operation.kind != Operation::Kind::kCompute || operation.instruction == nullptr) return false;
  const auto& operands = operation.instruction->operands;
  return operation.instruction->opcode == "call" &&
         std::ranges::any_of(operands, [](const ptx::InstructionOperand& operand) {
           return operand.kind == ptx::InstructionOperand::Kind::kIdentifier &&
                  operand.text == kPrint;
         });
}

bool prints_numbers(const Code& code, const OriginPool& pool, const OriginSet& formats) {
  return !formats.empty() && std::ranges::all_of(formats, [&](OriginId id) {
    const Origin& origin = pool[id];
    if (!origin.is_exact) return false;
    const AddressSource& source = origin.sources[0];
    if (source.kind != SourceKind::kVariable && source.kind != SourceKind::kConst) return false;
    const ptx::Variable* const variable = code.module->variable(code.variables[source.id]);
    return variable != nullptr && !variable->initialiser.empty() &&
           !prints_string(contents_of(*variable));
  });
}

}  // namespace baton::overlap
