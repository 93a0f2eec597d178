// Branches, calls, barriers, and the way from a row of the table of instructions to its decoder.

#include <fmt/core.h>

#include <algorithm>

#include "sim/engine/lower/lower.h"
#include "sim/engine/run/barrier.h"
#include "sim/engine/run/builtin.h"
#include "sim/engine/run/control.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// A program asks for multicast before it takes kernels that use it.
std::string_view advice_for(std::string_view name) {
  return name.starts_with("multimem") ? ": no simulated device has multicast memory "
                                        "(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0); "
                                        "load from and store to each device's memory instead"
                                      : "";
}

}  // namespace

// Row by row as in the table of instructions: a row whose family is not a member does not compile.
void Lowering::dispatch(const ptx::Form& form) {
  static constexpr Method kFamilies[] = {
#define BATON_PTX_FORM(form, destinations, kind, access, place, proxy, ptx, sm, family) \
  &Lowering::family,
#include "ptx/isa.inc"
#undef BATON_PTX_FORM
  };
  (this->*kFamilies[form.index])();
}

void Lowering::not_simulated() {
  const std::string_view name = at_->form->name;
  throw Unsupported{fmt::format("the simulated GPU does not execute {}{}", name, advice_for(name))};
}

void Lowering::not_known() {
  std::string name(insn_->opcode);
  for (const std::string_view modifier : insn_->modifiers) name += fmt::format(".{}", modifier);
  throw Unsupported{
      fmt::format("the simulated GPU does not know the instruction {}{}", name, advice_for(name))};
}

void Lowering::branch() {
  Modifiers m(*insn_);
  m.take("uni");  // a promise that needs no keeping
  m.finish();
  need_operands(1, 1);
  const std::vector<std::uint32_t> targets = flat_.branch_targets(*at_);
  const std::uint32_t to = targets.at(0);
  Proto& proto = emit(to <= index_ ? op_bra_back : op_bra);
  if (proto.has_guard) {
    proto.fn = op_bra_if;
    proto.inner = nullptr;
  } else {
    proto.ends = true;
  }
  proto.target = to;
  raw(proto, 4, index_ + 1);
  raw(proto, 5, to);
}

void Lowering::branch_indexed() {
  Modifiers m(*insn_);
  if (!m.take("idx")) throw Unsupported{"there is only brx.idx"};
  m.take("uni");
  m.finish();
  need_operands(2, 2);
  branch_lists_.push_back(flat_.branch_targets(*at_));
  const SlotId slot = source(operand(0), Type::kU32);
  guard_by_branch();
  Proto& proto = emit(op_brx);
  use(proto, 0, slot);
  proto.targets = &branch_lists_.back();
  proto.ends = true;
  raw(proto, 4, index_ + 1);
}

void Lowering::exit() {
  Modifiers m(*insn_);
  m.finish();
  guard_by_branch();
  Proto& proto = emit(op_exit);
  proto.ends = true;
  raw(proto, 4, index_ + 1);
}

void Lowering::ret() {
  Modifiers m(*insn_);
  m.take("uni");
  m.finish();
  guard_by_branch();
  transfer_declared(source_.results, target_->result_at, true);
  Proto& proto = emit(op_ret);
  proto.ends = true;
  raw(proto, 4, index_ + 1);
}

void Lowering::trap() {
  Modifiers m(*insn_);
  m.finish();
  guard_by_branch();
  emit(op_trap);
}

void Lowering::nop() {
  emit(op_nop);
}

// call (results), function, (params); the groups may be missing, and an indirect call names a
// register and after the parameters a prototype.
void Lowering::call() {
  Modifiers m(*insn_);
  m.take("uni");
  m.finish();
  std::size_t at = 0;
  const ptx::InstructionOperand* results = nullptr;
  const ptx::InstructionOperand* params = nullptr;
  if (at < insn_->operands.size() && operand(at).kind == Kind::kGroup) results = &operand(at++);
  const ptx::InstructionOperand& name = operand(at++);
  if (at < insn_->operands.size() && operand(at).kind == Kind::kGroup) params = &operand(at++);
  if (name.kind != Kind::kIdentifier) invalid("call names neither a function nor a register");

  const auto reg = flat_.variable(at_->scope, name.text);
  const bool indirect = reg && reg->variable->space == ptx::StateSpace::kReg;
  const ptx::Function* callee = indirect ? nullptr : shared_.facts.ptx->function(name.text);
  if (!indirect && callee == nullptr) {
    invalid(fmt::format("the function \"{}\" is not declared", name.text));
  }
  const SlotId pointer = indirect ? source(name, Type::kB64) : kSink;
  guard_by_branch();

  CallSite& site = target_->calls.emplace_back();
  bind_arguments(params, callee == nullptr ? nullptr : &callee->params, true, &site);
  bind_arguments(results, callee == nullptr ? nullptr : &callee->results, false, &site);
  if (indirect) {
    shared_.calls_indirectly = true;
  } else if (!callee->has_body) {
    if (const Builtin* builtin = find_builtin(name.text)) return call_builtin(*builtin, site);
    throw Unsupported{fmt::format("the function {} is not defined in the module", name.text)};
  } else {
    DecodedFunction* function = shared_.need(*callee);
    if (function->param_bytes != site.param_bytes || function->result_bytes != site.result_bytes) {
      invalid(fmt::format("the parameters do not fit those of \"{}\"", name.text));
    }
    site.callee = function;
  }
  Proto& proto = emit(op_call);
  use(proto, 0, pointer);
  proto.data = &site;
  raw(proto, 4, index_ + 1);
  for (const auto& [slot, place] : returned_) transfer_local(slot, place, false);
  returned_.clear();
  // Lanes that part in the callee meet again after the call.
  if (index_ + 1 < joins_.size()) joins_[index_ + 1] = true;
}

// Notes where the arguments, or results, of a call stand in local memory. Registers and numbers,
// where the callee declares its parameters in register space, are given a place there.
void Lowering::bind_arguments(const ptx::InstructionOperand* group,
                              const std::vector<ptx::Variable>* declared, bool passes,
                              CallSite* site) {
  if (group == nullptr) return;
  std::vector<std::uint32_t>& offsets = passes ? site->params : site->results;
  std::vector<std::uint32_t>& sizes = passes ? site->param_bytes : site->result_bytes;
  for (std::size_t k = 0; k < group->children.size(); ++k) {
    const ptx::InstructionOperand& one = group->children[k];
    const auto variable = flat_.variable(at_->scope, one.text);
    if (variable && variable->variable->space == ptx::StateSpace::kParam) {
      static_cast<void>(symbol_source(one, 8));  // gives it its place
      offsets.push_back(locals_.at(variable->variable));
      sizes.push_back(static_cast<std::uint32_t>(bytes_of(*variable->variable)));
      continue;
    }
    const bool in_register = declared != nullptr && k < declared->size() &&
                             (*declared)[k].space == ptx::StateSpace::kReg;
    const std::optional<Type> type = in_register ? parse_type((*declared)[k].type) : std::nullopt;
    if (!type || bits_of(*type) < 8 || bits_of(*type) > 64) {
      throw Unsupported{
          fmt::format("\"{}\" is passed, which is not a variable of .param space", one.text)};
    }
    const std::uint32_t place = reserve_local(8, 8);
    offsets.push_back(place);
    sizes.push_back(bits_of(*type) / 8);
    if (passes) {
      transfer_local(source(one, *type), place, true);
    } else {
      returned_.emplace_back(target(one, bits_of(*type)), place);
    }
  }
}

std::uint32_t Lowering::reserve_local(std::uint32_t bytes, std::uint32_t align) {
  std::uint32_t& end = target_->local_bytes;
  const std::uint32_t place = (end + align - 1) / align * align;
  end = place + bytes;
  return place;
}

// Moves a whole register to or from the function's local memory.
void Lowering::transfer_local(SlotId slot, std::uint32_t place, bool is_store) {
  if (slot == kSink) return;
  AccessSpec spec;
  spec.store = is_store;
  spec.space = Space::kLocal;
  spec.slot = spec.bytes = builder_.width(slot);
  Proto& proto = emit(ops_.access(spec));
  use(proto, 0, fixed(builder_.local_address(8, place, false)));
  if (is_store) {
    use(proto, 1, slot);
  } else {
    def(proto, 1, slot);
  }
  proto.mode = static_cast<std::uint8_t>(Space::kLocal);
}

// Parameters that the function declares in register space are loaded where it begins and stored
// where it returns.
void Lowering::transfer_declared(const std::vector<ptx::Variable>& list,
                                 const std::vector<std::uint32_t>& places, bool is_store) {
  for (std::size_t k = 0; k < list.size() && k < places.size(); ++k) {
    if (list[k].space != ptx::StateSpace::kReg || list[k].name.empty()) continue;
    const auto variable = flat_.variable(0, list[k].name);
    if (variable) transfer_local(register_of(*variable).slot, places[k], is_store);
  }
}

void Lowering::call_builtin(const Builtin& builtin, const CallSite& site) {
  if (site.param_bytes != builtin.param_bytes ||
      (!site.results.empty() && site.result_bytes != builtin.result_bytes)) {
    invalid(fmt::format("the parameters are not those of {}", builtin.name));
  }
  shared_.kernel.uses_heap |= builtin.uses_heap;
  Proto& proto = emit(builtin.handler);
  for (int k = 0; k < 5; ++k) raw(proto, k, 0);
  for (std::size_t k = 0; k < site.params.size(); ++k) {
    raw(proto, static_cast<int>(k), site.params[k]);
  }
  raw(proto, 5, site.results.empty() ? UINT32_MAX : site.results[0]);
}

// bar{.cta}.sync/.arrive/.red and barrier{.cta}…{.aligned}.
void Lowering::barrier() {
  Modifiers m(*insn_);
  m.take("cta");
  const bool aligned = m.take("aligned") || insn_->opcode == "bar";
  const auto action = m.take_one_of({"sync", "arrive", "red"});
  if (!action) throw Unsupported{"it neither syncs, arrives nor reduces"};
  BarrierKind kind = *action == 0 ? BarrierKind::kSync : BarrierKind::kArrive;
  std::size_t first = 0;
  SlotId result = kSink;
  if (*action == 2) {
    const auto op = m.take_one_of({"popc", "and", "or"});
    if (!op) throw Unsupported{"its reduction is not known"};
    kind = static_cast<BarrierKind>(static_cast<std::size_t>(BarrierKind::kRedPopc) + *op);
    const Type type = m.need_type();
    if (type != (kind == BarrierKind::kRedPopc ? Type::kU32 : Type::kPred)) {
      throw Unsupported{"its result has another type than its reduction gives"};
    }
    first = 1;
    result = target(operand(0), bits_of(type));
  }
  m.finish();
  const std::size_t tail = *action == 2 ? 1 : 0;  // the predicate comes last
  need_operands(first + 1 + tail, first + 2 + tail);
  const bool counts = insn_->operands.size() == first + 2 + tail;
  const SlotId id = source(operand(first), Type::kU32);
  const SlotId count = counts ? source(operand(first + 1), Type::kU32) : kSink;
  guard_by_branch();
  Proto& proto = emit(op_barrier);
  proto.mode = static_cast<std::uint8_t>(kind);
  def(proto, 0, result);
  use(proto, 1, id);
  use(proto, 2, count);
  proto.imm = (counts ? 1u : 0u) | (aligned ? 2u : 0u);
  if (tail != 0) use_predicate(proto, 3, insn_->operands.back());
}

}  // namespace baton::sim
