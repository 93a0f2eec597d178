// wgmma and setmaxnreg.

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/engine/async/wgmma.h"
#include "sim/engine/async/wgmma_registers.h"
#include "sim/engine/isa/matrix_sparse.h"
#include "sim/engine/lower/lower.h"
#include "sim/engine/lower/wgmma_flow.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// Elements with equal operands after scale-d (PTX ISA 9.0, "wgmma.mma_async" and
// "wgmma.mma_async.sp").
enum class OperandKind : std::uint8_t { kHalf, kSingle, kInteger };  // kSingle: tf32 and fp8

bool is_fp8_element(MatrixType type) {
  return type == MatrixType::kE4M3 || type == MatrixType::kE5M2;
}
bool is_byte_element(MatrixType type) {
  return type == MatrixType::kS8 || type == MatrixType::kU8;
}

std::optional<OperandKind> family_of(const WgmmaForm& form) {
  const bool same = form.a == form.b;
  if (form.a == MatrixType::kF16 && same) {
    if (form.d == MatrixType::kF16 || form.d == MatrixType::kF32) return OperandKind::kHalf;
  } else if (form.a == MatrixType::kBF16 && same) {
    if (form.d == MatrixType::kF32) return OperandKind::kHalf;
  } else if (form.a == MatrixType::kTF32 && same) {
    if (form.d == MatrixType::kF32) return OperandKind::kSingle;
  } else if (is_fp8_element(form.a) && is_fp8_element(form.b)) {
    if (form.d == MatrixType::kF16 || form.d == MatrixType::kF32) return OperandKind::kSingle;
  } else if ((is_byte_element(form.a) && is_byte_element(form.b)) ||
             (form.a == MatrixType::kB1 && same && !form.has(WgmmaForm::kSparse))) {
    if (form.d == MatrixType::kS32) return OperandKind::kInteger;
  }
  return std::nullopt;
}

// Columns are multiples of 8 up to 256; of integers, 24 and multiples of 16 after it.
bool has_columns(OperandKind family, unsigned columns) {
  if (columns == 0 || columns > 256 || columns % 8 != 0) return false;
  return family != OperandKind::kInteger || columns == 8 || columns == 24 || columns % 16 == 0;
}

}  // namespace

// wgmma.mma_async{.sp}.sync.aligned.m64nNkK{.satfinite}.d.a.b{.and.popc}
//   d, a, b{, metadata, selector}, scale-d{, scale-a, scale-b{, trans-a}{, trans-b}}
void Lowering::wgmma() {
  WgmmaForm form;
  const MatrixWords words = matrix_words();
  if (words.types.size() != 3 || words.form.m != 64) {
    throw Unsupported{"its shape or its types are not known"};
  }
  form.d = words.types[0];
  form.a = words.types[1];
  form.b = words.types[2];
  form.k = words.form.k;
  form.groups = static_cast<std::uint8_t>(words.columns_of_b / 8);
  const bool is_sparse = insn_->has("sp");
  if (is_sparse) form.flags |= WgmmaForm::kSparse;
  const std::optional<OperandKind> family = family_of(form);
  const bool has_and = (words.mode & kMmaAnd) != 0;
  const bool saturates = (words.mode & kMmaSaturates) != 0;
  if (!family || !has_columns(*family, words.columns_of_b) ||
      form.k != (is_sparse ? 2 : 1) * 256 / bits_of(form.a) ||
      has_and != (form.a == MatrixType::kB1) || (saturates && !is_byte_element(form.a))) {
    throw Unsupported{"the simulated GPU does not have this shape with these types"};
  }
  if (saturates) form.flags |= WgmmaForm::kSaturates;
  if (operand(1).kind == Kind::kVector) form.flags |= WgmmaForm::kLeftInRegisters;
  const bool in_registers = form.has(WgmmaForm::kLeftInRegisters);

  const std::size_t scale_d = is_sparse ? 5 : 3;
  const std::size_t count = scale_d + 1 + (*family == OperandKind::kInteger ? 0 : 2) +
                            (*family == OperandKind::kHalf ? (in_registers ? 1 : 2) : 0);
  need_operands(count, count);
  const auto constant = [&](std::size_t k) -> std::int64_t {
    if (operand(k).kind != Kind::kInteger) invalid(fmt::format("operand {} must be a constant", k));
    return static_cast<std::int32_t>(literal(operand(k), Type::kS32));
  };
  std::size_t at = scale_d + 1;
  if (*family != OperandKind::kInteger) {
    const std::int64_t a = constant(at), b = constant(at + 1);
    at += 2;
    if ((a != 1 && a != -1) || (b != 1 && b != -1)) invalid("scale-a and scale-b are 1 or -1");
    if (a * b < 0) form.flags |= WgmmaForm::kNegates;
  }
  const auto transposes = [&](std::uint8_t flag) {
    const std::int64_t value = constant(at++);
    if (value != 0 && value != 1) invalid("trans-a and trans-b are 0 or 1");
    if (value == 1) form.flags |= flag;
  };
  if (*family == OperandKind::kHalf) {
    if (!in_registers) transposes(WgmmaForm::kLeftRowsMajor);
    transposes(WgmmaForm::kRightRowsMajor);
  }

  WgmmaRegisters registers;
  std::vector<SlotId> list = matrix_registers(operand(0), form.registers_of_d(), Type::kB32, true);
  const std::vector<SlotId> accumulator = list;
  const auto number = [&](const ptx::InstructionOperand& o) {
    for (const ptx::InstructionOperand& each : o.children) {
      const auto reg = flat_.variable(at_->scope, each.text);
      if (!reg) continue;
      registers.numbers.push_back(register_of(*reg).slot);
      registers.names.push_back(std::string(each.text));
    }
  };
  number(operand(0));
  registers.accumulators = static_cast<std::uint32_t>(registers.numbers.size());
  SlotId left = kSink;
  if (in_registers) {
    const std::vector<SlotId> a = matrix_registers(operand(1), 4, Type::kB32, false);
    list.insert(list.end(), a.begin(), a.end());
    number(operand(1));
  } else {
    left = source(operand(1), Type::kB64);
  }
  // What it adds to is read as well.
  list.insert(list.end(), accumulator.begin(), accumulator.end());
  const SlotId right = source(operand(2), Type::kB64);
  SlotId metadata = kSink;
  if (is_sparse) {
    metadata = source(operand(3), Type::kB32);
    form.selector = sparsity_selector(form.a, form.k, 4);
  }
  guard_by_branch();
  Proto& proto = emit(op_wgmma);
  use(proto, 0, left);
  use(proto, 1, right);
  use_predicate(proto, 2, operand(scale_d));
  use(proto, 3, metadata);
  raw(proto, 4, static_cast<std::uint32_t>(target_->wgmma.size()));
  target_->wgmma.push_back(std::move(registers));
  proto.has_list = true;
  proto.list_written = static_cast<std::uint32_t>(accumulator.size());
  proto.list = std::move(list);
  proto.imm = std::bit_cast<std::int64_t>(form);
  if (wgmma_flow_ != nullptr) {
    if (wgmma_flow_->is_followed()) proto.mode |= kWgmmaIsFollowed;
    if (wgmma_flow_->may_lack_fence(index_)) proto.mode |= kWgmmaMayLackFence;
  }
  shared_.kernel.copies_read_shared = true;
}

void Lowering::wgmma_order() {
  Modifiers m(*insn_);
  const auto action = m.take_one_of({"fence", "commit_group", "wait_group"});
  m.take("sync");
  m.take("aligned");
  m.finish();
  static constexpr Handler kHandlers[] = {op_wgmma_fence, op_wgmma_commit, op_wgmma_wait};
  const bool waits = *action == 2;
  need_operands(waits ? 1 : 0, waits ? 1 : 0);
  if (waits && (operand(0).kind != Kind::kInteger || operand(0).bits > INT32_MAX)) {
    invalid("the number of groups must be a constant");
  }
  guard_by_branch();
  Proto& proto = emit(kHandlers[*action]);
  if (waits) proto.imm = static_cast<std::int64_t>(operand(0).bits);
}

// setmaxnreg.{inc,dec}.sync.aligned.u32 count
void Lowering::set_registers() {
  constexpr std::uint64_t kLeast = 24, kMost = 256, kUnit = 8;
  Modifiers m(*insn_);
  if (!m.take_one_of({"inc", "dec"})) throw Unsupported{"it is .inc or .dec"};
  m.take("sync");
  m.take("aligned");
  if (m.need_type() != Type::kU32) throw Unsupported{"its operand has type .u32"};
  m.finish();
  need_operands(1, 1);
  const bool is_constant = operand(0).kind == Kind::kInteger;
  const std::uint64_t count = operand(0).bits;
  if (!is_constant || count < kLeast || count > kMost || count % kUnit != 0) {
    invalid(
        fmt::format("the number of registers must be a constant, a multiple of {} from {} to {}",
                    kUnit, kLeast, kMost));
  }
  guard_by_branch();
  emit(op_set_registers);
}

namespace {

WgmmaStep::Kind kind_of(const ptx::Instruction& insn) {
  if (insn.opcode == "wgmma") {
    if (insn.has("mma_async")) return WgmmaStep::Kind::kMultiply;
    if (insn.has("fence")) return WgmmaStep::Kind::kFence;
    if (insn.has("commit_group")) return WgmmaStep::Kind::kCommit;
    if (insn.has("wait_group")) return WgmmaStep::Kind::kWait;
  }
  const bool copies = insn.opcode == "mov" && insn.operands.size() == 2 &&
                      insn.operands[0].kind == Kind::kIdentifier &&
                      insn.operands[1].kind == Kind::kIdentifier;
  return copies ? WgmmaStep::Kind::kCopy : WgmmaStep::Kind::kOther;
}

}  // namespace

// Calls f(register, name, whether it is written) for the registers that an instruction names.
template <typename F>
void Lowering::each_register(std::uint32_t flat, F&& f) {
  const ptx::Instruction& insn = *flat_.instructions()[flat].instruction;
  const auto visit = [&](auto&& self, const ptx::InstructionOperand& o, bool writes) -> void {
    if (o.kind == Kind::kIdentifier) {
      const auto reg = flat_.variable(flat_.instructions()[flat].scope, o.text);
      if (!reg || reg->variable->space != ptx::StateSpace::kReg) return;
      f(register_of(*reg).slot, o.text, writes);
      return;
    }
    for (const ptx::InstructionOperand& child : o.children) {
      self(self, child, writes && o.kind != Kind::kAddress);
    }
  };
  for (std::size_t o = 0; o < insn.operands.size(); ++o) {
    visit(visit, insn.operands[o], ptx::writes_operand(insn, o));
  }
}

void Lowering::survey_wgmma() {
  const auto& list = flat_.instructions();
  const bool has_any = std::any_of(list.begin(), list.end(), [](const ptx::FlatInstruction& one) {
    return kind_of(*one.instruction) == WgmmaStep::Kind::kMultiply;
  });
  if (!has_any) return;
  wgmma_steps_.resize(list.size());
  for (std::uint32_t k = 0; k < list.size(); ++k) {
    const ptx::Instruction& insn = *list[k].instruction;
    WgmmaStep& step = wgmma_steps_[k];
    step.kind = kind_of(insn);
    at_ = &list[k];
    insn_ = &insn;
    std::size_t named = 0;
    each_register(k, [&](SlotId reg, std::string_view, bool writes) {
      (writes ? step.writes : step.reads).push_back(reg);
      ++named;
    });
    if (step.kind == WgmmaStep::Kind::kCopy && (named != 2 || step.writes.size() != 1)) {
      step.kind = WgmmaStep::Kind::kOther;
    }
    // A guarded copy leaves the old value to other lanes, and may be left out.
    if (step.kind == WgmmaStep::Kind::kCopy && !insn.guard.empty()) {
      step.kind = WgmmaStep::Kind::kOther;
    }
    step.is_constant =
        insn.opcode == "mov" && insn.operands.size() == 2 &&
        (insn.operands[1].kind == Kind::kInteger || insn.operands[1].kind == Kind::kFloat);
    if (step.kind == WgmmaStep::Kind::kMultiply) {
      // Descriptors, predicates and metadata are read at once.
      step.reads.clear();
      if (insn.operands.size() > 1 && insn.operands[1].kind == Kind::kVector) {
        for (const ptx::InstructionOperand& o : insn.operands[1].children) {
          const auto reg = flat_.variable(list[k].scope, o.text);
          if (reg) step.reads.push_back(register_of(*reg).slot);
        }
      }
      step.shape = static_cast<std::uint32_t>(step.writes.size());
    }
    if (step.kind == WgmmaStep::Kind::kWait && !insn.operands.empty()) {
      step.left = static_cast<std::uint32_t>(insn.operands[0].bits);
    }
  }
  wgmma_flow_ = std::make_unique<WgmmaFlow>(flow_, wgmma_steps_);
}

// In front of an instruction that may touch a register which wgmma uses.
void Lowering::check_wgmma_registers() {
  if (wgmma_flow_ == nullptr || wgmma_flow_->is_clean()) return;
  const WgmmaStep& step = wgmma_steps_[index_];
  const bool may_be_busy = wgmma_flow_->may_be_busy(index_);
  std::vector<RegisterTouch> uses;
  if (step.kind == WgmmaStep::Kind::kCopy && wgmma_flow_->follows(step.reads[0])) {
    RegisterTouch& copy = uses.emplace_back();
    copy.number = step.writes[0];
    copy.from = step.reads[0];
    copy.copies = true;
  } else {
    const bool multiplies = step.kind == WgmmaStep::Kind::kMultiply;
    const std::vector<std::uint32_t>& conflicts = wgmma_flow_->conflicts(index_);
    each_register(index_, [&](SlotId reg, std::string_view name, bool writes) {
      const bool lacks_fence =
          writes && !multiplies && !step.is_constant && wgmma_flow_->is_used_unfenced(reg);
      const bool is_busy =
          multiplies ? std::find(conflicts.begin(), conflicts.end(), reg) != conflicts.end()
                     : may_be_busy && wgmma_flow_->follows(reg);
      if (!is_busy && !lacks_fence) return;
      RegisterTouch& one = uses.emplace_back();
      one.number = reg;
      one.name = name;
      one.writes = writes;
      one.lacks_fence = lacks_fence;
    });
  }
  if (uses.empty()) return;
  Proto& proto = emit(op_use_registers);
  proto.data = &target_->uses.emplace_back(std::move(uses));
}

}  // namespace baton::sim
