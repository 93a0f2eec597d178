// Where the operands of instructions come from: registers, literals, special registers and the
// addresses of variables.

#include <fmt/core.h>

#include <bit>
#include <charconv>

#include "base/text/text.h"
#include "sim/engine/lower/lower.h"
#include "sim/engine/memory/address.h"

namespace baton::sim {

using Kind = ptx::InstructionOperand::Kind;

SlotId Lowering::target(const ptx::InstructionOperand& o, unsigned bits, bool at_least) {
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

SlotId Lowering::predicate_target(const ptx::InstructionOperand& o) {
  return target(o, 1);
}

SlotId Lowering::source(const ptx::InstructionOperand& o, Type type, bool at_least) {
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

std::uint64_t Lowering::literal(const ptx::InstructionOperand& o, Type type) const {
  if (o.kind == Kind::kInteger) return o.bits;
  const bool want_single = bits_of(type) == 32;
  // 0f… is its bits whatever the type is, as ptxas has it; a double is rounded to single precision.
  if (o.is_single || !want_single) return o.bits;
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits)));
}

std::optional<SlotId> Lowering::special_source(std::string_view name, unsigned bits) {
  struct Name {
    std::string_view name;
    SpecialValue special;
  };
  static constexpr Name kNames[] = {
      {"%tid.x", SpecialValue::kTidX},
      {"%tid.y", SpecialValue::kTidY},
      {"%tid.z", SpecialValue::kTidZ},
      {"%ntid.x", SpecialValue::kNtidX},
      {"%ntid.y", SpecialValue::kNtidY},
      {"%ntid.z", SpecialValue::kNtidZ},
      {"%ctaid.x", SpecialValue::kCtaidX},
      {"%ctaid.y", SpecialValue::kCtaidY},
      {"%ctaid.z", SpecialValue::kCtaidZ},
      {"%nctaid.x", SpecialValue::kNctaidX},
      {"%nctaid.y", SpecialValue::kNctaidY},
      {"%nctaid.z", SpecialValue::kNctaidZ},
      {"%laneid", SpecialValue::kLaneid},
      {"%warpid", SpecialValue::kWarpid},
      {"%nwarpid", SpecialValue::kNwarpid},
      {"%smid", SpecialValue::kSmid},
      {"%nsmid", SpecialValue::kNsmid},
      {"%gridid", SpecialValue::kGridid},
      {"%lanemask_eq", SpecialValue::kLanemaskEq},
      {"%lanemask_le", SpecialValue::kLanemaskLe},
      {"%lanemask_lt", SpecialValue::kLanemaskLt},
      {"%lanemask_ge", SpecialValue::kLanemaskGe},
      {"%lanemask_gt", SpecialValue::kLanemaskGt},
      {"%dynamic_smem_size", SpecialValue::kDynamicSmemSize},
      {"%total_smem_size", SpecialValue::kTotalSmemSize},
      {"%aggr_smem_size", SpecialValue::kAggrSmemSize},
      {"%clusterid.x", SpecialValue::kClusteridX},
      {"%clusterid.y", SpecialValue::kClusteridY},
      {"%clusterid.z", SpecialValue::kClusteridZ},
      {"%nclusterid.x", SpecialValue::kNclusteridX},
      {"%nclusterid.y", SpecialValue::kNclusteridY},
      {"%nclusterid.z", SpecialValue::kNclusteridZ},
      {"%cluster_ctaid.x", SpecialValue::kClusterCtaidX},
      {"%cluster_ctaid.y", SpecialValue::kClusterCtaidY},
      {"%cluster_ctaid.z", SpecialValue::kClusterCtaidZ},
      {"%cluster_nctaid.x", SpecialValue::kClusterNctaidX},
      {"%cluster_nctaid.y", SpecialValue::kClusterNctaidY},
      {"%cluster_nctaid.z", SpecialValue::kClusterNctaidZ},
      {"%cluster_ctarank", SpecialValue::kClusterCtarank},
      {"%cluster_nctarank", SpecialValue::kClusterNctarank},
      {"%is_explicit_cluster", SpecialValue::kIsExplicitCluster},
  };
  for (const Name& row : kNames) {
    if (row.name != name) continue;
    if (bits == 1 && row.special != SpecialValue::kIsExplicitCluster) break;
    return fixed(builder_.special(bits == 1 ? 1 : width_for(bits), row.special, 0));
  }
  if (constexpr std::string_view kEnvreg = "%envreg"; name.starts_with(kEnvreg)) {
    const std::string_view digits = name.substr(kEnvreg.size());
    std::uint8_t number = 0;
    const auto [end, failure] = std::from_chars(digits.begin(), digits.end(), number);
    constexpr std::uint8_t kEnvregs = 32;
    if (failure != std::errc() || end != digits.end() || number >= kEnvregs) return std::nullopt;
    return fixed(builder_.special(width_for(bits), SpecialValue::kEnvreg, number));
  }
  if (name.starts_with("%reserved_smem_offset_")) {
    // The memory that the system reserves in each block lies after the kernel's own here. Its
    // parts are not distinguished: cooperative groups, which use part 1, are all that uses it.
    static constexpr std::pair<std::string_view, SpecialValue> kPlaces[] = {
        {"%reserved_smem_offset_begin", SpecialValue::kReservedSmem},
        {"%reserved_smem_offset_0", SpecialValue::kReservedSmem},
        {"%reserved_smem_offset_1", SpecialValue::kReservedSmem},
        {"%reserved_smem_offset_cap", SpecialValue::kReservedSmemEnd},
        {"%reserved_smem_offset_end", SpecialValue::kReservedSmemEnd}};
    for (const auto& [place, special] : kPlaces) {
      if (name != place || bits == 1) continue;
      shared_.kernel.reserved_shared = shared_.facts.chip->multiprocessor.reserved_shared;
      return fixed(builder_.special(width_for(bits), special, 0));
    }
  }
  if (name.starts_with("%pm")) throw Unsupported{"there are no performance counters"};
  return std::nullopt;
}

std::optional<SlotId> Lowering::symbol_source(const ptx::InstructionOperand& o,
                                              std::uint8_t width) {
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
    return fixed(builder_.constant(width, found->second + offset));
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
      return fixed(builder_.constant(width, shared_.facts.address_of(*variable) + offset));
    case ptx::StateSpace::kConst: {
      const std::uint64_t generic = shared_.facts.address_of(*variable);
      return fixed(builder_.constant(width, generic - shared_.facts.constant_base() + offset));
    }
    default:
      return std::nullopt;
  }
}

bool Lowering::alias(const ptx::InstructionOperand& written, SlotId slot) {
  // A debugger changes a register, and not what it was copied from.
  if (shared_.mode == DecodeMode::kDebugged) return false;
  if (written.kind != Kind::kIdentifier || written.text == "_" || !insn_->guard.empty()) {
    return false;
  }
  const auto reg = flat_.variable(at_->scope, written.text);
  if (!reg || reg->variable->space != ptx::StateSpace::kReg) return false;
  const SlotId to = register_of(*reg).slot;
  if (writes_[to] != 1 || builder_.width(to) != builder_.width(slot)) return false;
  const std::uint32_t here = flow_.block_of(index_);
  // A use that precedes the copy in the text reads the register itself: it is lowered already.
  for (std::uint32_t use : uses_[to]) {
    if (use <= index_ || !flow_.dominates(here, flow_.block_of(use))) return false;
  }
  // A register that is copied must not change between the copy and a use of it. Where both are
  // written once, the original before the copy and the copy before every use, it cannot.
  if (!is_fixed(slot)) {
    if (writes_[slot] != 1) return false;
    const std::uint32_t origin = written_at_[slot];
    const std::uint32_t there = flow_.block_of(origin);
    if (there == here ? origin >= index_ : !flow_.dominates(there, here)) return false;
  }
  aliases_[to] = slot;
  return true;
}

const ptx::InstructionOperand& Lowering::operand(std::size_t k) const {
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

}  // namespace baton::sim
