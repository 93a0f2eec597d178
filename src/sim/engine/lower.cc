#include "sim/engine/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "sim/engine/address.h"
#include "sim/engine/control.h"

namespace baton::sim {
namespace {

using Kind = ptx::Operand::Kind;

// Instructions that write no register.
bool writes_nothing(std::string_view opcode) {
  static const std::unordered_set<std::string_view> kNames = {"st",
                                                              "red",
                                                              "bra",
                                                              "brx",
                                                              "ret",
                                                              "exit",
                                                              "call",
                                                              "trap",
                                                              "brkpt",
                                                              "membar",
                                                              "fence",
                                                              "prefetch",
                                                              "prefetchu",
                                                              "applypriority",
                                                              "discard",
                                                              "nanosleep",
                                                              "griddepcontrol",
                                                              "pmevent",
                                                              "setmaxnreg",
                                                              "cp",
                                                              "barrier",
                                                              "bar"};
  return kNames.contains(opcode);
}

// Instructions that work on registers alone and never suspend their fragment.
bool is_plain(std::string_view opcode) {
  static const std::unordered_set<std::string_view> kNames = {
      "add",  "sub", "mul", "mad",  "fma",  "and",  "or",    "xor", "not", "shl",   "shr",
      "shf",  "mov", "cvt", "cvta", "setp", "selp", "min",   "max", "neg", "abs",   "lop3",
      "prmt", "bfe", "bfi", "div",  "rcp",  "sqrt", "rsqrt", "ex2", "lg2", "mul24", "mad24"};
  return kNames.contains(opcode);
}

std::uint8_t width_for(unsigned bits) {
  return bits == 1 ? 1 : bits <= 32 ? 4 : bits == 64 ? 8 : 16;
}

}  // namespace

Function* KernelLowering::need(const ptx::Function& function) {
  const auto found = functions.find(&function);
  if (found != functions.end()) return found->second;
  kernel.functions.push_back(std::make_unique<Function>());
  Function* made = kernel.functions.back().get();
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

Lowering::Lowering(KernelLowering& shared, const ptx::Function& source, Function* target)
    : shared_(shared),
      source_(source),
      target_(target),
      flat_(source),
      flow_(flat_),
      builder_(target),
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
}

// Counts where registers are written and read, and finds where paths meet.
void Lowering::survey() {
  const auto& list = flat_.instructions();
  for (std::uint32_t k = 0; k < list.size(); ++k) {
    const ptx::Instruction& insn = *list[k].instruction;
    at_ = &list[k];
    insn_ = &insn;
    const bool branches = insn.opcode == "bra" || insn.opcode == "brx";
    if (branches && (!insn.guard.empty() || insn.opcode == "brx")) {
      const std::uint32_t meet = flow_.reconvergence(k);
      if (meet < list.size()) joins_[meet] = true;
    }
    const auto visit = [&](auto&& self, const ptx::Operand& operand, bool writes) -> void {
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
      for (const ptx::Operand& child : operand.children) {
        self(self, child, writes && operand.kind != Kind::kAddress);
      }
    };
    for (std::size_t o = 0; o < insn.operands.size(); ++o) {
      // A call writes the registers of its first group, where it has results.
      const bool results = insn.opcode == "call" && o == 0 && insn.operands.size() > 1 &&
                           insn.operands[0].kind == Kind::kGroup;
      visit(visit, insn.operands[o], results || (o == 0 && !writes_nothing(insn.opcode)));
    }
    // bar.red and barrier.red write their first operand.
    if ((insn.opcode == "bar" || insn.opcode == "barrier") && insn.has("red") &&
        !insn.operands.empty()) {
      visit(visit, insn.operands[0], true);
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
  const std::size_t first = builder_.protos().size();
  std::string reason;
  try {
    const Row* row = find_row(insn_->opcode);
    if (row == nullptr) {
      throw Unsupported{
          fmt::format("the simulated GPU does not know the instruction {}", insn_->opcode)};
    }
    dispatch(*row);
    // Only what cannot suspend the fragment leaves the patterns of addresses as they are.
    if (insn_->opcode == "ld" || insn_->opcode == "st" || is_plain(insn_->opcode)) {
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

void Lowering::use_predicate(Proto& proto, int k, const ptx::Operand& o) {
  proto.r[k] = source(o, Type::kPred);
  if (o.negated) proto.negated |= static_cast<std::uint8_t>(1 << k);
}

SlotId Lowering::temporary(unsigned bits) {
  return builder_.add_register(width_for(bits));
}

SlotId Lowering::target(const ptx::Operand& o, unsigned bits, bool at_least) {
  if (o.kind == Kind::kIdentifier && o.text == "_") return kSink;
  if (o.kind == Kind::kIdentifier) {
    const auto reg = flat_.variable(at_->scope, o.text);
    if (reg && reg->variable->space == ptx::StateSpace::kReg) {
      const RegisterFacts& facts = register_of(*reg);
      const bool fits = facts.bits == bits || (at_least && facts.bits > bits && bits != 1);
      if (!fits) {
        invalid(fmt::format("register {} has {} bits, the instruction writes {}", o.text,
                            facts.bits, bits));
      }
      return facts.slot;
    }
  }
  invalid(fmt::format("\"{}\" is not a declared register", printable(o.text)));
}

SlotId Lowering::predicate_target(const ptx::Operand& o) {
  return target(o, 1);
}

SlotId Lowering::source(const ptx::Operand& o, Type type, bool at_least) {
  const unsigned bits = bits_of(type);
  const std::uint8_t width = width_for(bits);
  if (o.kind == Kind::kInteger || o.kind == Kind::kFloat) {
    const std::uint64_t value = literal(o, type);
    if (type == Type::kPred) return fixed(builder_.constant(1, value != 0 ? kAllLanes : 0));
    return fixed(builder_.constant(width, value));
  }
  if (o.kind != Kind::kIdentifier) {
    invalid(fmt::format("operand \"{}\" is of a kind that {} does not take", printable(o.text),
                        insn_->opcode));
  }
  const auto reg = flat_.variable(at_->scope, o.text);
  if (reg && reg->variable->space == ptx::StateSpace::kReg) {
    const RegisterFacts& facts = register_of(*reg);
    const bool fits = facts.bits == bits || (at_least && facts.bits > bits && bits != 1);
    if (!fits) {
      invalid(fmt::format("register {} has {} bits, the instruction reads {}", o.text, facts.bits,
                          bits));
    }
    if (o.negated && type != Type::kPred) {
      throw Unsupported{fmt::format("\"-\" before the register {}", o.text)};
    }
    const auto found = aliases_.find(facts.slot);
    return found == aliases_.end() ? facts.slot : found->second;
  }
  if (!o.text.empty() && o.text[0] == '%') {
    if (const std::optional<SlotId> slot = special_source(o.text, bits)) return *slot;
  }
  if (const std::optional<SlotId> slot = symbol_source(o, width)) return *slot;
  invalid(fmt::format("\"{}\" is not declared", printable(o.text)));
}

std::uint64_t Lowering::literal(const ptx::Operand& o, Type type) const {
  if (o.kind == Kind::kInteger) return o.bits;
  const bool want_single = bits_of(type) == 32;
  // 0f… is its bits whatever the type is, as ptxas has it; a double is rounded to single precision.
  if (o.is_single || !want_single) return o.bits;
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits)));
}

std::optional<SlotId> Lowering::special_source(std::string_view name, unsigned bits) {
  struct Name {
    std::string_view name;
    Special special;
  };
  static constexpr Name kNames[] = {
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneid},
      {"%warpid", Special::kWarpid},
      {"%nwarpid", Special::kNwarpid},
      {"%smid", Special::kSmid},
      {"%nsmid", Special::kNsmid},
      {"%gridid", Special::kGridid},
      {"%lanemask_eq", Special::kLanemaskEq},
      {"%lanemask_le", Special::kLanemaskLe},
      {"%lanemask_lt", Special::kLanemaskLt},
      {"%lanemask_ge", Special::kLanemaskGe},
      {"%lanemask_gt", Special::kLanemaskGt},
      {"%dynamic_smem_size", Special::kDynamicSmemSize},
      {"%total_smem_size", Special::kTotalSmemSize},
      {"%aggr_smem_size", Special::kAggrSmemSize},
      {"%clusterid.x", Special::kClusteridX},
      {"%clusterid.y", Special::kClusteridY},
      {"%clusterid.z", Special::kClusteridZ},
      {"%nclusterid.x", Special::kNclusteridX},
      {"%nclusterid.y", Special::kNclusteridY},
      {"%nclusterid.z", Special::kNclusteridZ},
      {"%cluster_ctaid.x", Special::kClusterCtaidX},
      {"%cluster_ctaid.y", Special::kClusterCtaidY},
      {"%cluster_ctaid.z", Special::kClusterCtaidZ},
      {"%cluster_nctaid.x", Special::kClusterNctaidX},
      {"%cluster_nctaid.y", Special::kClusterNctaidY},
      {"%cluster_nctaid.z", Special::kClusterNctaidZ},
      {"%cluster_ctarank", Special::kClusterCtarank},
      {"%cluster_nctarank", Special::kClusterNctarank},
      {"%is_explicit_cluster", Special::kIsExplicitCluster},
  };
  for (const Name& row : kNames) {
    if (row.name != name) continue;
    if (bits == 1 && row.special != Special::kIsExplicitCluster) break;
    return fixed(builder_.special(bits == 1 ? 1 : width_for(bits), row.special, 0));
  }
  if (constexpr std::string_view kEnvreg = "%envreg"; name.starts_with(kEnvreg)) {
    const std::string_view digits = name.substr(kEnvreg.size());
    std::uint8_t number = 0;
    const auto [end, failure] = std::from_chars(digits.begin(), digits.end(), number);
    constexpr std::uint8_t kEnvregs = 32;
    if (failure != std::errc() || end != digits.end() || number >= kEnvregs) return std::nullopt;
    return fixed(builder_.special(width_for(bits), Special::kEnvreg, number));
  }
  if (name.starts_with("%reserved_smem_offset_")) {
    // The memory that the system reserves in each block lies behind the kernel's own here. Its
    // parts are not told apart: cooperative groups, which use part 1, are all that uses it.
    static constexpr std::pair<std::string_view, Special> kPlaces[] = {
        {"%reserved_smem_offset_begin", Special::kReservedSmem},
        {"%reserved_smem_offset_0", Special::kReservedSmem},
        {"%reserved_smem_offset_1", Special::kReservedSmem},
        {"%reserved_smem_offset_cap", Special::kReservedSmemEnd},
        {"%reserved_smem_offset_end", Special::kReservedSmemEnd}};
    for (const auto& [place, special] : kPlaces) {
      if (name != place || bits == 1) continue;
      shared_.kernel.reserved_shared = kReservedShared;
      return fixed(builder_.special(width_for(bits), special, 0));
    }
  }
  if (name.starts_with("%pm")) throw Unsupported{"there are no performance counters"};
  return std::nullopt;
}

std::optional<SlotId> Lowering::symbol_source(const ptx::Operand& o, std::uint8_t width) {
  const auto offset = static_cast<std::uint64_t>(o.offset);
  const auto local = flat_.variable(at_->scope, o.text);
  const ptx::Variable* variable = local ? local->variable : shared_.facts.ptx->variable(o.text);
  if (variable == nullptr) {
    const ptx::Function* function = shared_.facts.ptx->function(o.text);
    if (function == nullptr) return std::nullopt;
    if (function->has_body && !function->is_entry) {
      shared_.kernel.by_index.emplace(shared_.facts.index_of(*function), shared_.need(*function));
    }
    return fixed(builder_.constant(width, kCodeWindow + shared_.facts.index_of(*function)));
  }
  if (const auto found = kernel_params_.find(variable); found != kernel_params_.end()) {
    return fixed(builder_.constant(width, kParamWindow + found->second + offset));
  }
  switch (variable->space) {
    case ptx::StateSpace::kLocal:
    case ptx::StateSpace::kParam: {
      const auto [at, added] = locals_.try_emplace(variable, 0);
      if (added) {
        constexpr std::uint64_t kMost = 512 * 1024;
        const std::uint64_t bytes = bytes_of(*variable);
        if (bytes > kMost || target_->local_bytes > kMost - bytes) {
          invalid(
              fmt::format("local variable {} has {} bytes; a thread has 512 KiB", o.text, bytes));
        }
        at->second = reserve_local(static_cast<std::uint32_t>((bytes + 3) / 4 * 4),
                                   std::max(align_of(*variable), 4u));
      }
      return fixed(
          builder_.local_address(width, at->second + static_cast<std::uint32_t>(offset), false));
    }
    case ptx::StateSpace::kShared: {
      const bool dynamic = bytes_of(*variable) == 0;
      if (dynamic) {
        shared_.shared.need_dynamic(*variable);
        return fixed(builder_.dynamic_shared_address(width, offset));
      }
      return fixed(builder_.shared_address(width, shared_.shared.offset_of(*variable) + offset));
    }
    case ptx::StateSpace::kGlobal:
    case ptx::StateSpace::kConst:
      return fixed(builder_.constant(width, shared_.facts.address_of(*variable) + offset));
    default:
      return std::nullopt;
  }
}

bool Lowering::alias(const ptx::Operand& written, SlotId slot) {
  if (written.kind != Kind::kIdentifier || written.text == "_" || !insn_->guard.empty()) {
    return false;
  }
  const auto reg = flat_.variable(at_->scope, written.text);
  if (!reg || reg->variable->space != ptx::StateSpace::kReg) return false;
  const SlotId to = register_of(*reg).slot;
  if (writes_[to] != 1 || builder_.width(to) != builder_.width(slot)) return false;
  const std::vector<std::uint32_t>& uses = uses_[to];
  const std::uint32_t here = flow_.block_of(index_);
  for (std::uint32_t use : uses) {
    const std::uint32_t there = flow_.block_of(use);
    if (there == here ? use <= index_ : !flow_.dominates(here, there)) return false;
  }
  // A register that is copied must not change between the copy and a use of it. Where both are
  // written once, the original before the copy and the copy before every use, it cannot.
  if (!is_fixed(slot)) {
    if (writes_[slot] != 1) return false;
    const std::uint32_t origin = written_at_[slot];
    const std::uint32_t there = flow_.block_of(origin);
    if (there == here ? origin >= index_ : !flow_.dominates(there, here)) return false;
    for (std::uint32_t use : uses) uses_[slot].push_back(use);
  }
  aliases_[to] = slot;
  return true;
}

const ptx::Operand& Lowering::operand(std::size_t k) const {
  if (k >= insn_->operands.size()) {
    invalid(fmt::format("{} has {} operands, too few", insn_->opcode, insn_->operands.size()));
  }
  return insn_->operands[k];
}

void Lowering::need_operands(std::size_t least, std::size_t most) const {
  const std::size_t count = insn_->operands.size();
  if (count >= least && count <= most) return;
  invalid(fmt::format("{} has {} operands; it takes {}{}", insn_->opcode, count, least,
                      most == least ? "" : fmt::format(" to {}", most)));
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
