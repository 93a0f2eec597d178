#include "analysis/form_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "pdl/code/instruction.h"
#include "pdl/origin/value_effect.h"

namespace baton::record {
namespace {

// What may be written after the modifiers that a row needs.
const std::vector<std::vector<std::string_view>>& endings() {
  static const std::vector<std::vector<std::string_view>> kEndings = {
      {"u32"},
      {"s64"},
      {"f16x2"},
      {"b128"},
      {"global", "b8"},
      {"shared", "u16"},
      {"shared::cta", "b64"},
      {"shared::cluster", "global", "b64"},
      {"global", "shared::cta", "b64"},
      {"shared::cluster", "shared::cta", "b64"},
      {"local", "v4", "b32"},
      {"param", "v2", "b64"},
      {"const", "f32"},
      {"acquire", "gpu", "global", "u32"},
      {"relaxed", "cta", "shared", "u32"},
      {"release", "sys", "u64"},
      {"volatile", "global", "v8", "b32"},
      {"nc", "global", "u32"},
      {"aligned", "u32"},
      {"cluster", "acquire"},
      {"cc", "u32"},
      {"wide", "s32"},
      {"lt", "and", "s32"}};
  return kEndings;
}

ptx::Instruction instruction_of(const ptx::Form& form, const std::vector<std::string_view>& ending,
                                unsigned addresses) {
  ptx::Instruction instruction;
  instruction.opcode = form.opcode;
  instruction.modifiers = form.modifiers;
  instruction.modifiers.insert(instruction.modifiers.end(), ending.begin(), ending.end());
  for (std::size_t k = 0; k < form.destinations; ++k) {
    instruction.operands.emplace_back().text = "%r1";
  }
  instruction.operands.emplace_back().text = "%r2";
  if (addresses != 0) instruction.operands.pop_back();
  for (unsigned k = 0; k < addresses; ++k) {
    ptx::InstructionOperand& address = instruction.operands.emplace_back();
    address.kind = ptx::InstructionOperand::Kind::kAddress;
    address.children.emplace_back().text = "%rd1";
  }
  return instruction;
}

std::string shape_text(const overlap::Shape& shape) {
  std::string flags;
  for (const bool flag : {shape.defines, shape.non_coherent, shape.strong, shape.prefetches,
                          shape.orders, shape.meets, shape.disturbs}) {
    flags += flag ? '1' : '0';
  }
  return fmt::format("{}.{} at {} {} w{}", static_cast<int>(shape.kind),
                     static_cast<int>(shape.space), shape.address, flags, shape.width);
}

}  // namespace

std::string form_text(const ptx::Form& form) {
  std::string out;
  auto to = std::back_inserter(out);
  const std::size_t ways = 2 * endings().size();
  for (std::size_t way = 0; way < ways; ++way) {
    const ptx::Instruction instruction =
        instruction_of(form, endings()[way / 2], way % 2 == 0 ? 2 : 0);
    for (const ptx::Form* row : {&form, static_cast<const ptx::Form*>(nullptr)}) {
      fmt::format_to(
          to, "{} effect {} carry {}{}; ", shape_text(overlap::shape_of(instruction, row)),
          static_cast<int>(overlap::value_effect(instruction, row)),
          int{overlap::reads_carry(instruction)}, int{overlap::writes_carry(instruction)});
    }
    out += '\n';
  }
  return out;
}

}  // namespace baton::record
