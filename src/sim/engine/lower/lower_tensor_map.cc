// Tensor maps that kernels make and change.

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "sim/engine/async/tensor_map_change.h"
#include "sim/engine/judge/fence.h"
#include "sim/engine/lower/lower.h"

namespace baton::sim {
namespace {

bool is_number(const ptx::InstructionOperand& operand) {
  return operand.kind == ptx::InstructionOperand::Kind::kInteger;
}

const MapFieldRow* take_field(Modifiers& m) {
  for (const MapFieldRow& row : map_fields()) {
    if (m.take(row.name)) return &row;
  }
  return nullptr;
}

}  // namespace

// tensormap.replace.tile.field{.global,.shared::cta}.b1024.{b32,b64} [map]{, ordinal}, value
void Lowering::replace_tensor_map() {
  Modifiers m(*insn_);
  m.take("replace");
  if (!m.take("tile")) throw Unsupported{"it changes tensor maps in tiled mode only"};
  const MapFieldRow* const row = take_field(m);
  if (row == nullptr) throw Unsupported{"the field that it changes is not known"};
  const Space space = take_space(m);
  if (!m.take("b1024")) throw Unsupported{"a tensor map has type .b1024"};
  if (bits_of(m.need_type()) != row->bits) {
    invalid(fmt::format("{} of a tensor map has {} bits", row->name, row->bits));
  }
  m.finish();
  const std::size_t last = row->ordinals == 0 ? 1 : 2;
  need_operands(last + 1, last + 1);
  MapFieldForm form;
  form.field = row->field;
  if (row->ordinals != 0) {
    const ptx::InstructionOperand& ordinal = operand(1);
    if (!is_number(ordinal) || ordinal.bits >= row->ordinals) {
      invalid(fmt::format("the second operand must be a constant from 0 to {}, a dimension of {}",
                          row->ordinals - 1, row->name));
    }
    form.ordinal = static_cast<std::uint8_t>(ordinal.bits);
  }
  const ptx::InstructionOperand& value = operand(last);
  if (row->is_constant) {
    if (!is_number(value) || value.bits > row->most) {
      invalid(fmt::format("{} must be a constant from 0 to {}", row->name, row->most));
    }
    if (value.bits > row->simulated) {
      throw Unsupported{fmt::format("tensor maps with {} {}", row->name, value.bits)};
    }
  }
  const SlotId map = generic_address(operand(0), space);
  const SlotId from = source(value, row->bits == 64 ? Type::kB64 : Type::kB32);
  Proto& proto = emit(op_replace_map_field);
  use(proto, 0, map);
  use(proto, 1, from);
  proto.imm = std::bit_cast<std::int64_t>(form);
}

// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned
//   [to], [from], 128
void Lowering::publish_tensor_map() {
  Modifiers m(*insn_);
  m.take("cp_fenceproxy");
  for (const std::string_view part :
       {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"}) {
    if (!m.take(part)) throw Unsupported{fmt::format("it is not .{}", part)};
  }
  const MemoryScope scope = m.take_scope();
  m.finish();
  need_operands(3, 3);
  if (!is_number(operand(2)) || operand(2).bits != kTensorMapBytes) {
    invalid(
        fmt::format("the third operand must be {}, the bytes of a tensor map", kTensorMapBytes));
  }
  const SlotId to = generic_address(operand(0), Space::kGlobal);
  const SlotId from = generic_address(operand(1), Space::kShared);
  guard_by_branch();
  Proto& proto = emit(op_publish_tensor_map);
  use(proto, 0, to);
  use(proto, 1, from);
  proto.mode = kFenceOfAll;
  proto.imm = static_cast<std::int64_t>(scope);
}

}  // namespace baton::sim
