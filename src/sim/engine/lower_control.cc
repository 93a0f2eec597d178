// Branches, calls, barriers, and the table of all instructions.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/engine/barrier.h"
#include "sim/engine/builtin.h"
#include "sim/engine/control.h"
#include "sim/engine/lower.h"

namespace baton::sim {
namespace {

using Kind = ptx::Operand::Kind;

}  // namespace

struct Lowering::Row {
  std::string_view opcode;
  Method method;
};

const Lowering::Row* Lowering::find_row(std::string_view opcode) {
  using L = Lowering;
  static const std::unordered_map<std::string_view, Row> kRows = [] {
    std::unordered_map<std::string_view, Row> rows;
    const auto add = [&](Method method, std::initializer_list<std::string_view> names) {
      for (std::string_view name : names) rows.emplace(name, Row{name, method});
    };
    add(&L::alu_add_sub, {"add", "sub"});
    add(&L::alu_chain, {"addc", "subc"});
    add(&L::alu_mul, {"mul", "mul24"});
    add(&L::alu_mad, {"mad", "mad24", "madc", "fma"});
    add(&L::alu_simple, {"rem", "sad", "popc", "clz", "brev", "fns", "copysign"});
    add(&L::alu_div, {"div"});
    add(&L::alu_minmax, {"min", "max"});
    add(&L::alu_sign, {"abs", "neg"});
    add(&L::alu_bits, {"and", "or", "xor", "not", "cnot"});
    add(&L::alu_shift, {"shl", "shr"});
    add(&L::alu_funnel, {"shf"});
    add(&L::alu_lop3, {"lop3"});
    add(&L::alu_prmt, {"prmt"});
    add(&L::alu_field, {"bfe", "bfi", "bfind", "bmsk", "szext"});
    add(&L::alu_approx, {"rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh"});
    add(&L::alu_dot, {"dp4a", "dp2a"});
    add(&L::alu_testp, {"testp"});
    add(&L::move, {"mov"});
    add(&L::cvta, {"cvta"});
    add(&L::convert, {"cvt"});
    add(&L::select, {"selp"});
    add(&L::slct, {"slct"});
    add(&L::set_predicate, {"setp"});
    add(&L::set_register, {"set"});
    add(&L::isspacep, {"isspacep"});
    add(&L::load, {"ld", "ldu"});
    add(&L::store, {"st"});
    add(&L::atomic, {"atom", "red"});
    add(&L::prefetch, {"prefetch", "prefetchu", "applypriority", "discard"});
    add(&L::fence, {"fence", "membar"});
    add(&L::branch, {"bra"});
    add(&L::branch_indexed, {"brx"});
    add(&L::exit, {"exit"});
    add(&L::ret, {"ret"});
    add(&L::call, {"call"});
    add(&L::trap, {"trap", "brkpt"});
    add(&L::barrier, {"bar", "barrier"});
    add(&L::nop, {"pmevent", "setmaxnreg"});
    add(&L::shuffle, {"shfl"});
    add(&L::vote, {"vote"});
    add(&L::activemask, {"activemask"});
    add(&L::match, {"match"});
    add(&L::redux, {"redux"});
    add(&L::elect, {"elect"});
    add(&L::nanosleep, {"nanosleep"});
    add(&L::griddepcontrol, {"griddepcontrol"});
    return rows;
  }();
  const auto found = kRows.find(opcode);
  return found == kRows.end() ? nullptr : &found->second;
}

void Lowering::dispatch(const Row& row) {
  (this->*row.method)();
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
// register and behind the parameters a prototype.
void Lowering::call() {
  Modifiers m(*insn_);
  m.take("uni");
  m.finish();
  std::size_t at = 0;
  const ptx::Operand* results = nullptr;
  const ptx::Operand* params = nullptr;
  if (at < insn_->operands.size() && operand(at).kind == Kind::kGroup) results = &operand(at++);
  const ptx::Operand& name = operand(at++);
  if (at < insn_->operands.size() && operand(at).kind == Kind::kGroup) params = &operand(at++);
  if (name.kind != Kind::kIdentifier) invalid("call names neither a function nor a register");

  CallSite& site = target_->calls.emplace_back();
  const auto bind = [&](const ptx::Operand* group, std::vector<std::uint32_t>* offsets,
                        std::vector<std::uint32_t>* sizes) {
    if (group == nullptr) return;
    for (const ptx::Operand& one : group->children) {
      const auto variable = flat_.variable(at_->scope, one.text);
      if (!variable || variable->variable->space != ptx::StateSpace::kParam) {
        throw Unsupported{
            fmt::format("\"{}\" is passed, which is no variable of .param space", one.text)};
      }
      static_cast<void>(symbol_source(one, 8));  // gives it its place
      offsets->push_back(locals_.at(variable->variable));
      sizes->push_back(static_cast<std::uint32_t>(bytes_of(*variable->variable)));
    }
  };
  bind(params, &site.params, &site.param_bytes);
  bind(results, &site.results, &site.result_bytes);

  const auto reg = flat_.variable(at_->scope, name.text);
  const bool indirect = reg && reg->variable->space == ptx::StateSpace::kReg;
  SlotId pointer = kSink;
  if (indirect) {
    pointer = source(name, Type::kB64);
    shared_.calls_indirectly = true;
  } else {
    const ptx::Function* callee = shared_.facts.ptx->function(name.text);
    if (callee == nullptr) invalid(fmt::format("the function \"{}\" is not declared", name.text));
    if (!callee->has_body) {
      if (const Handler builtin = find_builtin(name.text)) return call_builtin(builtin, site);
      throw Unsupported{fmt::format("the function {} is not defined in the module", name.text)};
    }
    Function* function = shared_.need(*callee);
    if (function->param_bytes != site.param_bytes || function->result_bytes != site.result_bytes) {
      invalid(fmt::format("the parameters do not fit those of \"{}\"", name.text));
    }
    site.callee = function;
  }
  guard_by_branch();
  Proto& proto = emit(op_call);
  use(proto, 0, pointer);
  proto.data = &site;
  raw(proto, 4, index_ + 1);
  // Lanes that part in the callee meet again behind the call.
  if (index_ + 1 < joins_.size()) joins_[index_ + 1] = true;
}

void Lowering::call_builtin(Handler handler, const CallSite& site) {
  if (site.params.size() > 5 || site.results.size() > 1) {
    invalid("the parameters are not those of the function");
  }
  Proto& proto = emit(handler);
  for (int k = 0; k < 5; ++k) raw(proto, k, 0);
  for (std::size_t k = 0; k < site.params.size(); ++k) {
    raw(proto, static_cast<int>(k), site.params[k]);
  }
  raw(proto, 5, site.results.empty() ? UINT32_MAX : site.results[0]);
}

// bar{.cta}.sync/.arrive/.red and barrier{.cta}…{.aligned}; bar.warp.sync.
void Lowering::barrier() {
  Modifiers m(*insn_);
  if (m.take("warp")) return warp_barrier();
  if (m.take("cluster")) throw Unsupported{"cluster barriers"};
  m.take("cta");
  m.take("aligned");
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
  proto.imm = counts ? 1 : 0;
  if (tail != 0) use_predicate(proto, 3, insn_->operands.back());
}

}  // namespace baton::sim
