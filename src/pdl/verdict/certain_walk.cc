#include "pdl/verdict/certain_walk.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "pdl/footprint/footprint.h"
#include "pdl/value/parameter_value.h"
#include "pdl/value/value.h"
#include "ptx/dominators.h"
#include "ptx/traversal.h"

namespace baton::overlap {
namespace {

// A register holds a number, an address of known memory, or a value that is not known.
struct KnownValue {
  bool is_known = false;
  std::optional<MemoryId> memory;
  std::uint64_t bits = 0;  // of an address: its offset in the memory

  static KnownValue number(std::uint64_t bits) { return {true, std::nullopt, bits}; }
  static KnownValue address(MemoryId memory, std::uint64_t offset) {
    return {true, memory, offset};
  }
  bool is_number() const { return is_known && !memory; }
  bool is_address() const { return is_known && memory.has_value(); }
};

class Walk {
 public:
  Walk(const Footprint& footprint, std::span<const GivenArgument> arguments,
       const LaunchExtents& extents, const ThreadPosition& thread, const VariableNumber& variable,
       std::uint64_t& steps, std::vector<CertainAccess>& out)
      : footprint_(footprint),
        code_(*footprint.code),
        arguments_(arguments),
        extents_(extents),
        thread_(thread),
        variable_(variable),
        steps_(steps),
        out_(out),
        values_(code_.registers) {}

  void run() {
    std::optional<std::uint32_t> at = 0;
    while (at && steps_ > 0 && out_.size() < kMaxCertainAccesses) {
      --steps_;
      at = step(*at);
    }
  }

 private:
  using Kind = Operation::Kind;

  // The operation that comes next; nothing: what the thread does from here on is not certain.
  std::optional<std::uint32_t> step(std::uint32_t at) {
    const Operation& operation = code_.operations[at];
    const std::optional<bool> passes = guard(operation);
    const auto next = execute(at, operation, passes);
    if (footprint_.ordering_ops[at] && passes != false) unordered_ = false;
    return next;
  }

  std::optional<std::uint32_t> execute(std::uint32_t at, const Operation& operation,
                                       std::optional<bool> passes) {
    switch (operation.kind) {
      case Kind::kEnd:
      case Kind::kOpen:
        return std::nullopt;
      case Kind::kTrap:
        if (passes != false) return std::nullopt;
        break;
      case Kind::kBranch:
        return branch(at, operation, passes);
      case Kind::kLoad:
      case Kind::kStore:
      case Kind::kAtomic:
        if (passes == true) access(at, operation);
        define(operation, passes);
        break;
      case Kind::kCompute:
      case Kind::kPass:
      case Kind::kWait:
      case Kind::kTrigger:
      case Kind::kBarrier:
      case Kind::kNothing:
        define(operation, passes);
        break;
    }
    if (operation.next.empty()) return std::nullopt;
    return operation.next[0];
  }

  // Whether the operation is executed; nothing: that is not known.
  std::optional<bool> guard(const Operation& operation) const {
    if (operation.guard == kNone) return true;
    const KnownValue& value = values_[operation.guard];
    if (!value.is_number()) return std::nullopt;
    return ((value.bits & 1) != 0) != operation.guard_negated;
  }

  std::optional<std::uint32_t> branch(std::uint32_t at, const Operation& operation,
                                      std::optional<bool> passes) {
    const std::vector<std::uint32_t>& next = operation.next;
    const std::size_t targets = operation.guard == kNone ? 0 : 1;  // the first of them
    if (passes == false) return next.empty() ? std::nullopt : std::optional(next[0]);
    if (passes == true && next.size() == targets + 1) return next[targets];
    return meet(at);
  }

  // Where all ways from a branch meet again. What they may have written is no longer known.
  std::optional<std::uint32_t> meet(std::uint32_t at) {
    const std::uint32_t meeting = meeting_of(at);
    if (meeting >= code_.operations.size()) return std::nullopt;
    std::vector<bool> between =
        ptx::reachable(code_.operations.size(), code_.operations[at].next,
                       [&](std::uint32_t node, const auto& go) {
                         if (node == meeting) return;
                         for (const std::uint32_t to : code_.operations[node].next) go(to);
                       });
    between[meeting] = false;
    for (std::uint32_t node = 0; node < between.size(); ++node) {
      if (!between[node]) continue;
      const Operation& operation = code_.operations[node];
      if (operation.kind == Kind::kOpen || operation.kind == Kind::kEnd) return std::nullopt;
      if (footprint_.ordering_ops[node]) unordered_ = false;
      for (const std::uint32_t id : operation.defines) {
        values_[id] = {};
        parts_.erase(id);
      }
    }
    steps_ -= std::min<std::uint64_t>(steps_, between.size() / 8);
    return meeting;
  }

  // Immediate post-dominators, by operation: an end that follows all ends is one more.
  std::uint32_t meeting_of(std::uint32_t at) {
    if (meetings_.empty()) {
      const auto count = static_cast<std::uint32_t>(code_.operations.size());
      ptx::Edges edges(count + 1);
      for (std::uint32_t node = 0; node < count; ++node) {
        edges[node] = code_.operations[node].next;
        if (edges[node].empty()) edges[node].push_back(count);
      }
      meetings_ = ptx::immediate_dominators(ptx::reversed(edges), count);
    }
    return meetings_[at];
  }

  // --- Values ------------------------------------------------------------------------------------

  KnownValue of(const ValueSource& source) const {
    switch (source.kind) {
      case ValueSource::Kind::kRegister:
        return values_[source.id];
      case ValueSource::Kind::kConstant:
        return KnownValue::number(source.bits);
      case ValueSource::Kind::kSpecial:
        return special(static_cast<SpecialRegister>(source.id));
      case ValueSource::Kind::kVariable:
      case ValueSource::Kind::kConst:
        return KnownValue::address(
            variable_(code_.variables[source.id], source.kind == ValueSource::Kind::kConst),
            source.bits);
      case ValueSource::Kind::kParam:
      case ValueSource::Kind::kShared:
      case ValueSource::Kind::kLocal:
      case ValueSource::Kind::kAnything:
      case ValueSource::Kind::kOther:
        break;
    }
    return {};
  }

  KnownValue special(SpecialRegister name) const {
    const auto index = static_cast<std::size_t>(name);
    const auto of_extents = [](const std::array<std::uint32_t, 3>& extents, std::size_t k) {
      return extents[k] == 0 ? KnownValue() : KnownValue::number(extents[k]);
    };
    if (name <= SpecialRegister::kTidZ) return KnownValue::number(thread_.tid[index]);
    if (name <= SpecialRegister::kNtidZ) return of_extents(extents_.block, index - 3);
    if (name <= SpecialRegister::kCtaidZ) return KnownValue::number(thread_.block[index - 6]);
    if (name <= SpecialRegister::kNctaidZ) return of_extents(extents_.grid, index - 9);
    if (name == SpecialRegister::kLaneId) {
      const auto& [x, y, z] = thread_.tid;
      const auto& extents = extents_.block;
      const std::uint64_t linear =
          x + std::uint64_t{extents[0]} * (y + std::uint64_t{extents[1]} * z);
      return KnownValue::number(linear % 32);
    }
    return {};  // %warpid may change
  }

  void define(const Operation& operation, std::optional<bool> passes) {
    if (passes == false || operation.defines.empty()) {
      if (passes == false) keep(operation);
      return;
    }
    const KnownValue value = passes == true ? result(operation) : KnownValue();
    if (operation.kind == Kind::kPass && !takes(operation)) {
      parts_[operation.defines.back()] = part_of(operation, 0);
    }
    for (std::size_t k = 0; k < operation.defines.size(); ++k) {
      values_[operation.defines[k]] = k == 0 ? value : KnownValue();
    }
    if (operation.kind != Kind::kLoad || passes != true) return;
    for (std::size_t k = 1; k < operation.defines.size(); ++k) {
      values_[operation.defines[k]] = loaded(operation, k);
    }
  }

  // Registers are values here: what is held back gives another value its name.
  void keep(const Operation& operation) {
    for (std::size_t k = 0; k < operation.kept.size(); ++k) {
      values_[operation.defines[k]] = values_[operation.kept[k]];
    }
  }

  KnownValue result(const Operation& operation) const {
    if (operation.instruction == nullptr) return {};
    if (operation.kind == Kind::kLoad) return loaded(operation, 0);
    if (operation.kind == Kind::kPass) return passed(operation);
    if (operation.kind != Kind::kCompute) return {};
    const std::string_view opcode = operation.instruction->opcode;
    const bool only_first = operation.defines.size() == 1 || opcode == "setp" || opcode == "shfl";
    return only_first ? computed(operation, opcode) : KnownValue();
  }

  KnownValue computed(const Operation& operation, std::string_view opcode) const {
    std::vector<KnownValue> from;
    for (const ValueSource& source : operation.sources) from.push_back(of(source));
    if (std::ranges::none_of(from, &KnownValue::is_address)) return number_of(operation, from);
    if (operation.width != 64 || from.empty()) return {};
    const ptx::Instruction& i = *operation.instruction;
    const bool is_copy = (opcode == "mov" || opcode == "cvta") ||
                         (opcode == "cvt" && i.modifiers.size() == 2 &&
                          i.modifiers[0].ends_with("64") && i.modifiers[1].ends_with("64") &&
                          !i.modifiers[0].starts_with('f') && !i.modifiers[1].starts_with('f'));
    if (is_copy && from.size() == 1) return from[0];
    if (opcode == "selp" && from.size() == 3 && from[2].is_number()) {
      return from[(from[2].bits & 1) != 0 ? 0 : 1];
    }
    if (i.has("cc") || i.has("sat")) return {};
    if (opcode == "add" && from.size() == 2) return sum(from[0], from[1]);
    if (opcode == "sub" && from.size() == 2 && from[1].is_number()) {
      return sum(from[0], KnownValue::number(0 - from[1].bits));
    }
    if (opcode == "mad" && from.size() == 3) {
      std::vector<KnownValue> product = {from[0], from[1], KnownValue::number(0)};
      return sum(from[2], number_of(operation, product));
    }
    return {};
  }

  static KnownValue sum(const KnownValue& a, const KnownValue& b) {
    if (a.is_address() && b.is_number()) return KnownValue::address(*a.memory, a.bits + b.bits);
    if (b.is_address() && a.is_number()) return KnownValue::address(*b.memory, a.bits + b.bits);
    return {};
  }

  KnownValue number_of(const Operation& operation, std::span<const KnownValue> from) const {
    std::vector<Value> values;
    for (const KnownValue& each : from) {
      values.push_back(each.is_number() ? Value::constant(each.bits) : Value::varies());
    }
    const Value lane = Value::constant(special(SpecialRegister::kLaneId).bits);
    const Value found = result_of(operation, values, lane);
    return found.is_constant() ? KnownValue::number(found.bits) : KnownValue();
  }

  // What a call passes: ld.param and st.param move one element of it.
  using Part = std::pair<std::int64_t, unsigned>;  // offset, width
  static bool takes(const Operation& operation) { return operation.instruction->opcode == "ld"; }
  static Part part_of(const Operation& operation, std::size_t operand) {
    return {operation.instruction->operands[operand].offset, operation.width};
  }
  KnownValue passed(const Operation& operation) const {
    if (operation.sources.size() != 1) return {};
    const KnownValue value = of(operation.sources[0]);
    if (!takes(operation)) return operation.cuts && value.is_address() ? KnownValue() : value;
    const auto part = parts_.find(operation.sources[0].id);
    const bool is_whole = part != parts_.end() && part->second == part_of(operation, 1);
    if (!is_whole || !value.is_number()) return is_whole ? value : KnownValue();
    const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
    return KnownValue::number(loaded_bits(value.bits, operation.width, is_signed));
  }

  KnownValue loaded(const Operation& operation, std::size_t element) const {
    const auto found = parameter_value(code_, operation, element, arguments_);
    if (!found) return {};
    return found->memory ? KnownValue::address(*found->memory, found->bits)
                         : KnownValue::number(found->bits);
  }

  // Whether a copy's size is more than 0. Operands beyond that of cp.async say how much of it, or
  // whether any of it, is read. The sources are its other address, and what follows.
  bool copies_something(const Operation& operation) const {
    const std::vector<ValueSource>& from = operation.sources;
    const ptx::Instruction& i = *operation.instruction;
    const bool may_leave_out =
        i.has("bulk") ? i.has("cp_mask") || i.has("ignore_oob") : from.size() > 2;
    if (from.size() < 2 || may_leave_out) return false;
    const KnownValue size = of(from[1]);
    return size.is_number() && size.bits != 0;
  }

  void access(std::uint32_t at, const Operation& operation) {
    if (operation.space == Operation::Space::kTensorMap) return;
    if (operation.instruction->opcode == "cp" && !copies_something(operation)) return;
    KnownValue address = of(operation.address);
    if (!address.is_address()) return;
    const ptx::InstructionOperand* place = nullptr;
    for (const ptx::InstructionOperand& operand : operation.instruction->operands) {
      if (operand.kind != ptx::InstructionOperand::Kind::kAddress) continue;
      // Of two addresses it is not known here which one is meant.
      if (place != nullptr && (place->offset != 0 || operand.offset != 0)) return;
      place = &operand;
    }
    if (place == nullptr) return;
    address.bits += static_cast<std::uint64_t>(place->offset);
    const std::uint64_t bytes = std::max<std::uint64_t>(operation.width / 8, 1);
    out_.push_back({at, *address.memory, address.bits, address.bits + bytes, unordered_});
  }

  const Footprint& footprint_;
  const Code& code_;
  std::span<const GivenArgument> arguments_;
  const LaunchExtents& extents_;
  const ThreadPosition& thread_;
  const VariableNumber& variable_;
  std::uint64_t& steps_;
  std::vector<CertainAccess>& out_;
  std::vector<KnownValue> values_;                 // by register
  std::unordered_map<std::uint32_t, Part> parts_;  // the last one of what calls pass, by register
  std::vector<std::uint32_t> meetings_;            // by operation; filled when it is needed first
  bool unordered_ = true;
};

}  // namespace

void walk_certainly(const Footprint& footprint, std::span<const GivenArgument> arguments,
                    const LaunchExtents& extents, const ThreadPosition& thread,
                    const VariableNumber& variable, std::uint64_t& steps,
                    std::vector<CertainAccess>& out) {
  Walk(footprint, arguments, extents, thread, variable, steps, out).run();
}

}  // namespace baton::overlap
