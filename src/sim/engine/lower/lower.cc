#include "sim/engine/lower/lower.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/text.h"
#include "ptx/operand_use.h"
#include "sim/engine/debug/debugger.h"
#include "sim/engine/run/control.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// Instructions that work on registers alone and never suspend their fragment.
bool is_plain(const ptx::FlatInstruction& flat) {
  return flat.is(ptx::Form::Kind::kPure) || flat.is(ptx::Form::Kind::kCarry);
}

// "%r9" before "%r10".
bool by_name(const NamedRegister& a, const NamedRegister& b) {
  if (a.name.size() != b.name.size()) return a.name.size() < b.name.size();
  return a.name < b.name;
}

}  // namespace

DecodedFunction* KernelLowering::need(const ptx::Function& function) {
  const auto found = functions.find(&function);
  if (found != functions.end()) return found->second;
  kernel.functions.push_back(std::make_unique<DecodedFunction>());
  DecodedFunction* made = kernel.functions.back().get();
  made->name = function.name;
  made->source = &function;
  functions.emplace(&function, made);
  pending.push_back(&function);
  // The layout of its parameters is known at once, for callers. Each gets whole words.
  std::uint32_t at = 0;
  const auto place = [&](const std::vector<ptx::Variable>& list,
                         std::vector<std::uint32_t>* offsets, std::vector<std::uint32_t>* sizes) {
    for (const ptx::Variable& variable : list) {
      const std::uint32_t align = std::max(align_of(variable), 4u);
      at = (at + align - 1) / align * align;
      offsets->push_back(at);
      sizes->push_back(static_cast<std::uint32_t>(bytes_of(variable)));
      at += (sizes->back() + 3) / 4 * 4;
    }
  };
  if (!function.is_entry) {
    place(function.params, &made->param_at, &made->param_bytes);
    place(function.results, &made->result_at, &made->result_bytes);
  }
  made->local_bytes = at;
  return made;
}

Lowering::Lowering(KernelLowering& shared, const ptx::Function& source, DecodedFunction* target)
    : shared_(shared),
      source_(source),
      target_(target),
      flat_(source),
      flow_(flat_),
      builder_(target, shared.mode == DecodeMode::kDebugged),
      ops_(op_table()) {
  if (source.is_entry) {
    std::vector<std::uint32_t> offsets;
    layout_params(source.params, &offsets);
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      kernel_params_.emplace(&source.params[k], offsets[k]);
    }
    return;
  }
  for (std::size_t k = 0; k < source.params.size(); ++k) {
    locals_.emplace(&source.params[k], target->param_at[k]);
  }
  for (std::size_t k = 0; k < source.results.size(); ++k) {
    locals_.emplace(&source.results[k], target->result_at[k]);
  }
}

void Lowering::run() {
  const auto& list = flat_.instructions();
  carry_ = builder_.add_register(1);
  joins_.assign(list.size() + 1, false);
  survey();
  survey_wgmma();
  std::vector<Site> sites;
  // Without a guard of its own, what runs where the function begins belongs to no instruction.
  static const ptx::Instruction kEntry;
  insn_ = &kEntry;
  if (!is_entry()) transfer_declared(source_.params, target_->param_at, false);
  for (std::uint32_t k = 0; k < list.size(); ++k) {
    sites.push_back({list[k].instruction, list[k].loc});
    lower_one(k);
  }
  // Whatever runs off the end of the text returns.
  insn_ = &kEntry;
  index_ = static_cast<std::uint32_t>(list.size());
  builder_.begin_flat(index_);
  if (!is_entry()) transfer_declared(source_.results, target_->result_at, true);
  std::vector<FunctionBuilder::Late> late;
  builder_.finish(sites, &late);
  for (const FunctionBuilder::Late& constant : late) shared_.late.push_back({target_, constant});
  if (shared_.mode == DecodeMode::kDebugged) name_registers();
}

void Lowering::name_registers() {
  for (const auto& [variable, all] : registers_) {
    for (std::size_t index = 0; index < all.size(); ++index) {
      SlotId slot = all[index].slot;
      if (slot == kSink) continue;
      if (const auto found = aliases_.find(slot); found != aliases_.end()) slot = found->second;
      std::string name(variable->name);
      if (variable->range != 0) name += std::to_string(index);
      target_->registers.push_back({std::move(name), builder_.offset(slot), builder_.width(slot)});
    }
  }
  std::sort(target_->registers.begin(), target_->registers.end(), by_name);
}

// Counts where registers are written and read, and finds where paths meet.
void Lowering::survey() {
  const auto& list = flat_.instructions();
  for (std::uint32_t k = 0; k < list.size(); ++k) {
    const ptx::Instruction& insn = *list[k].instruction;
    at_ = &list[k];
    insn_ = &insn;
    if (list[k].is(ptx::Form::Kind::kBranch) && (!insn.guard.empty() || insn.opcode == "brx")) {
      const std::uint32_t meet = flow_.reconvergence(k);
      if (meet < list.size()) joins_[meet] = true;
    }
    const auto visit = [&](auto&& self, const ptx::InstructionOperand& operand,
                           bool writes) -> void {
      if (operand.kind == Kind::kIdentifier) {
        const auto reg = flat_.variable(list[k].scope, operand.text);
        if (!reg || reg->variable->space != ptx::StateSpace::kReg) return;
        const SlotId slot = register_of(*reg).slot;
        if (writes) {
          ++writes_[slot];
          written_at_[slot] = k;
        } else {
          uses_[slot].push_back(k);
        }
        return;
      }
      for (const ptx::InstructionOperand& child : operand.children) {
        self(self, child, writes && operand.kind != Kind::kAddress);
      }
    };
    for (std::size_t o = 0; o < insn.operands.size(); ++o) {
      visit(visit, insn.operands[o], ptx::writes_operand(insn, o));
      if (ptx::updates_operand(insn, o)) visit(visit, insn.operands[o], false);
    }
  }
}

const Lowering::RegisterFacts& Lowering::register_of(const ptx::FlatFunction::Register& reg) {
  std::vector<RegisterFacts>& facts = registers_[reg.variable];
  if (facts.size() <= reg.index) facts.resize(reg.index + 1);
  RegisterFacts& found = facts[reg.index];
  if (found.slot == kSink) {
    const std::optional<Type> type = parse_type(reg.variable->type);
    if (!type) {
      invalid(fmt::format("register {} is declared with type .{}, which registers cannot have",
                          reg.variable->name, reg.variable->type));
    }
    found.bits = bits_of(*type);
    found.slot = builder_.add_register(width_for(found.bits));
  }
  return found;
}

void Lowering::lower_one(std::uint32_t flat) {
  index_ = flat;
  at_ = &flat_.instructions()[flat];
  insn_ = at_->instruction;
  guard_done_ = false;
  returned_.clear();
  builder_.begin_flat(flat);
  if (flow_.blocks()[flow_.block_of(flat)].begin == flat || joins_[flat]) groups_.clear();
  if (joins_[flat]) {
    Proto& join = builder_.emit(op_join, flat);
    raw(join, 4, flat);
  }
  if (shared_.mode == DecodeMode::kDebugged) {
    builder_.emit(op_debug, flat);
    // The debugger may change registers there, among them addresses.
    groups_.clear();
  }
  const std::size_t first = builder_.protos().size();
  std::string reason;
  try {
    const ptx::Form* form = at_->form;
    if (form == nullptr) not_known();
    if (form->is_simulated()) require(form->architecture, form->is_specific);
    // PTX ISA 9.0, "wgmma": no later architecture has it.
    if (insn_->opcode.starts_with("wgmma") && shared_.facts.architecture != 90) {
      throw Unsupported{fmt::format("it requires .target sm_90a alone; this module is for {}",
                                    shared_.facts.ptx->target())};
    }
    check_wgmma_registers();
    dispatch(*form);
    // Only what cannot suspend the fragment leaves the patterns of addresses as they are.
    if (insn_->opcode == "ld" || insn_->opcode == "st" || is_plain(*at_)) {
      end_groups(first);
    } else {
      groups_.clear();
    }
    return;
  } catch (const Unsupported& unsupported) {
    reason = unsupported.reason;
  }
  // What was emitted of it so far is replaced.
  builder_.protos().resize(first);
  guard_done_ = false;
  if (!insn_->guard.empty()) guard_by_branch();
  Proto& proto = emit(op_unsupported);
  proto.data = &target_->reasons.emplace_back(std::move(reason));
}

Proto& Lowering::emit(Handler fn) {
  if (fn == nullptr) {
    throw Unsupported{"the simulated GPU does not have this combination of types and modifiers"};
  }
  Proto& proto = builder_.emit(fn, index_);
  if (!insn_->guard.empty() && !guard_done_) {
    const auto reg = flat_.variable(at_->scope, insn_->guard);
    if (!reg || reg->variable->space != ptx::StateSpace::kReg || register_of(*reg).bits != 1) {
      invalid(fmt::format("the guard {} is not a declared predicate", insn_->guard));
    }
    SlotId slot = register_of(*reg).slot;
    if (const auto found = aliases_.find(slot); found != aliases_.end()) slot = found->second;
    proto.guard = slot;
    proto.has_guard = true;
    proto.negated |= insn_->guard_negated ? kGuardNegated : 0;
    proto.inner = fn;
    proto.fn = op_guarded;
  }
  return proto;
}

void Lowering::guard_by_branch() {
  if (insn_->guard.empty() || guard_done_) return;
  Proto& around = emit(op_bra_if);
  around.inner = nullptr;
  around.fn = op_bra_if;
  around.negated ^= kGuardNegated;
  around.target = index_ + 1;
  raw(around, 4, index_);
  raw(around, 5, index_ + 1);
  if (index_ + 1 < joins_.size()) joins_[index_ + 1] = true;
  guard_done_ = true;
}

void Lowering::def(Proto& proto, int k, SlotId slot) {
  proto.r[k] = slot;
  proto.defines |= static_cast<std::uint8_t>(1 << k);
}

void Lowering::raw(Proto& proto, int k, std::uint32_t value) {
  proto.r[k] = value;
  proto.raw[k] = true;
}

void Lowering::use_predicate(Proto& proto, int k, const ptx::InstructionOperand& o) {
  proto.r[k] = source(o, Type::kPred);
  if (o.negated) proto.negated |= static_cast<std::uint8_t>(1 << k);
}

SlotId Lowering::temporary(unsigned bits) {
  return builder_.add_register(width_for(bits));
}

void Lowering::invalid(std::string message) const {
  SourceLocation where;
  where.file = shared_.facts.ptx->name();
  if (insn_ != nullptr) {
    where.line = static_cast<int>(insn_->position.line);
    where.column = static_cast<int>(insn_->position.column);
    message = fmt::format("{} (in \"{}\")", message, printable(text_of(*insn_)));
  }
  throw error_at(std::move(where), ErrorCode::kInvalidInput, "{}", message);
}

void Lowering::require(int architecture, bool specific) const {
  const ModuleFacts& facts = shared_.facts;
  if (facts.architecture >= architecture && (!specific || facts.arch_specific)) return;
  throw Unsupported{fmt::format("it requires .target sm_{}{} or newer; this module is for {}",
                                architecture, specific ? "a" : "", facts.ptx->target())};
}

}  // namespace baton::sim
