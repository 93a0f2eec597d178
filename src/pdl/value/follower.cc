#include "pdl/value/follower.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "pdl/order/shared_place.h"
#include "pdl/value/parameter_value.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

// How often a range may grow, as in a loop, before it counts as unknown.
constexpr std::uint32_t kMaxGrowth = 12;

// Of two destinations the first is what is computed.
bool gives_first(const Operation& operation) {
  return operation.instruction != nullptr &&
         (operation.instruction->opcode == "shfl" || operation.instruction->opcode == "setp");
}

}  // namespace

Follower::Follower(const Code& code, const KnownThread& thread, const std::vector<bool>& wanted)
    : code_(code), thread_(thread), wanted_(wanted), values_(code.values()) {
  run();
}

Follower::Follower(const Code& code, const KnownThread& thread, const Follower& everything,
                   const EarlyThreads* early)
    : code_(code),
      thread_(thread),
      wanted_(everything.wanted_),
      early_(early),
      everything_(&everything),
      values_(code.values()) {
  run();
}

void Follower::run() {
  for (std::uint32_t id = 0; id < code_.registers; ++id) {
    if (code_.unset[id] || !wanted_[id]) values_[id] = Value::varies();
  }
  const std::uint32_t shuffled = code_.exchanged(Exchange::kShuffled);
  if (!wanted_[shuffled]) values_[shuffled] = Value::varies();
  give_up_parts();
  Solver solver(*this, code_.order, code_.users, values_);
  solver.reach(0);
  solver.run();
  reached_ = solver.reached();
  evaluations_ = solver.evaluations();
}

void Follower::evaluate(std::uint32_t at, Solver& solver) const {
  if (early_ != nullptr && early_->is_behind(at)) return;
  const Operation& operation = code_.operations[at];
  define(at, solver);
  const bool ends = operation.kind == Kind::kTrap || (early_ != nullptr && early_->holds(at));
  if (ends && guard(operation) == Guard::kTrue) return;
  for (const std::uint32_t to : followers(operation)) solver.reach(to);
}

bool Follower::widen(Value& old, const Value& value, std::uint32_t changes) {
  if (value.state == Value::State::kNothing || old.state == Value::State::kVaries) return false;
  const bool is_first = old.state == Value::State::kNothing;
  const Value both = joined(old, value);
  if (both == old) return false;
  old = !is_first && changes > kMaxGrowth ? Value::varies() : both;
  return true;
}

// What calls pass in several parts, or take as other parts than they were given.
void Follower::give_up_parts() {
  std::unordered_map<std::uint32_t, std::pair<std::int64_t, unsigned>> parts;  // by register
  for (const Operation& operation : code_.operations) {
    if (operation.kind != Kind::kPass) continue;
    const bool takes = operation.instruction->opcode == "ld";
    const std::uint32_t passed = takes ? operation.sources.back().id : operation.defines.back();
    const std::pair part(operation.instruction->operands[takes ? 1 : 0].offset,
                         unsigned{operation.width});
    const auto known = parts.try_emplace(passed, part).first;
    if (known->second != part) values_[passed] = Value::varies();
  }
}

Follower::Guard Follower::guard(const Operation& operation) const {
  if (operation.guard == kNone) return Guard::kTrue;
  const Value& value = values_[operation.guard];
  if (!value.is_constant()) return Guard::kEither;
  return ((value.bits & 1) != 0) != operation.guard_negated ? Guard::kTrue : Guard::kFalse;
}

std::span<const std::uint32_t> Follower::followers(const Operation& operation) const {
  const std::span<const std::uint32_t> next = operation.next;
  if (operation.guard == kNone || next.size() < 2) return next;
  switch (guard(operation)) {
    case Guard::kTrue:
      return next.subspan(1);
    case Guard::kFalse:
      return next.first(1);
    case Guard::kEither:
      return next;
  }
  return next;
}

// Whether anything is told of what it defines: what may hold anything stays so.
bool Follower::may_tell_more(const Operation& operation) const {
  return std::ranges::any_of(operation.defines, [this](std::uint32_t id) {
    return values_[id].state != Value::State::kVaries;
  });
}

void Follower::define(std::uint32_t at, Solver& solver) const {
  const Operation& operation = code_.operations[at];
  if (joins_others(at) && guard(operation) != Guard::kFalse) {
    solver.define(code_.exchanged(Exchange::kShuffled), Value(of(operation.sources[0])));
  }
  if (!may_tell_more(operation)) return;
  const Guard passes = guard(operation);
  if (passes != Guard::kTrue) {
    for (std::size_t k = 0; k < operation.kept.size(); ++k) {
      solver.define(operation.defines[k], Value(values_[operation.kept[k]]));
    }
  }
  if (passes == Guard::kFalse) return;
  const Value value =
      operation.defines.size() == 1 || gives_first(operation) ? result(at) : Value::varies();
  const Value second = elects(operation) ? Value::constant(1) : Value::varies();
  for (std::size_t k = 0; k < operation.defines.size(); ++k) {
    solver.define(operation.defines[k], k == 0 ? value : k == 1 ? second : Value::varies());
  }
}

Value Follower::of(const ValueSource& source) const {
  switch (source.kind) {
    case ValueSource::Kind::kRegister:
      return values_[source.id];
    case ValueSource::Kind::kConstant:
      return Value::constant(source.bits);
    case ValueSource::Kind::kSpecial:
      return special(static_cast<SpecialRegister>(source.id));
    case ValueSource::Kind::kParam:
      return Value::param(source.id);
    case ValueSource::Kind::kShared:
      return moved(Value::shared(source.id, 0), static_cast<std::int64_t>(source.bits));
    default:
      return Value::varies();
  }
}

Value Follower::special(SpecialRegister name) const {
  const auto index = static_cast<std::size_t>(name);
  const auto known = [](const auto& extents, std::size_t k) {
    return extents ? Value::constant((*extents)[k]) : Value::varies();
  };
  // An index that may be any below the extent.
  const auto below = [](const auto& extents, std::size_t k) {
    return extents && (*extents)[k] != 0 ? Value::range(0, (*extents)[k] - 1) : Value::varies();
  };
  if (name <= SpecialRegister::kTidZ) {
    if (thread_.tid) return known(thread_.tid, index);
    return thread_.warp && thread_.block ? of_warp(index) : below(thread_.block, index);
  }
  if (name <= SpecialRegister::kNtidZ) return known(thread_.block, index - 3);
  if (name <= SpecialRegister::kCtaidZ) {
    return thread_.index ? known(thread_.index, index - 6) : below(thread_.grid, index - 6);
  }
  if (name <= SpecialRegister::kNctaidZ) return known(thread_.grid, index - 9);
  if (name == SpecialRegister::kLaneId) return lane();
  return Value::varies();  // %warpid may change
}

// Of the indexes of a warp's threads one dimension.
Value Follower::of_warp(std::size_t index) const {
  const auto [x, y, z] = *thread_.block;
  const std::uint64_t first = std::uint64_t{*thread_.warp} * kWarpThreads;
  const std::uint64_t last = first + kWarpThreads - 1;
  const bool is_row = y <= 1 && z <= 1;
  if (x == 0 || (!is_row && x % kWarpThreads != 0)) {
    const std::uint32_t extent = (*thread_.block)[index];
    return extent == 0 ? Value::varies() : Value::range(0, extent - 1);
  }
  if (index == 0 && is_row) return Value::range(first, std::min<std::uint64_t>(last, x - 1));
  if (index == 0) return Value::range(first % x, last % x);
  if (is_row) return Value::constant(0);
  const std::uint64_t row = first / x;
  return Value::constant(index == 1 ? row % y : row / y);
}

Value Follower::lane() const {
  const auto& tid = thread_.tid;
  if (!tid || (*tid)[1] != 0 || (*tid)[2] != 0) return Value::range(0, 31);
  return Value::constant((*tid)[0] % 32);
}

Value Follower::result(std::uint32_t at) const {
  const Operation& operation = code_.operations[at];
  if (operation.kind == Kind::kPass) return passed(operation);
  if (early_ != nullptr) {
    if (const auto known = early_->value_of(at, *this)) return Value::constant(*known);
  }
  if (operation.kind == Kind::kLoad) return loaded(operation);
  if (operation.kind != Kind::kCompute || operation.instruction == nullptr) {
    return Value::varies();
  }
  std::vector<Value> from;
  for (const ValueSource& source : operation.sources) from.push_back(of(source));
  if (const auto known = of_all_lanes(at)) return *known;
  if (const auto known = selected(operation)) return *known;
  if (std::ranges::any_of(from, &Value::is_address)) return address_of(operation, from);
  return result_of(operation, from, lane());
}

// One of two ranges. An index that goes on and begins again at its bound stays below it:
//   add r, i, 1; setp.eq p, r, 4; selp i, 0, r, p
std::optional<Value> Follower::selected(const Operation& operation) const {
  const ptx::Instruction& i = *operation.instruction;
  if (i.opcode != "selp" || operation.sources.size() != 3) return std::nullopt;
  // "!p" is another value.
  if (std::ranges::any_of(i.operands, &ptx::InstructionOperand::negated)) return std::nullopt;
  Value chosen[2];
  for (std::size_t k = 0; k < 2; ++k) {
    chosen[k] = of(operation.sources[k]);
    if (!chosen[k].is_range()) return std::nullopt;
  }
  const Value& decides = of(operation.sources[2]);
  if (decides.is_constant()) return chosen[(decides.bits & 1) != 0 ? 0 : 1];
  const auto bound = code_.equality_of(operation.sources[2]);
  for (std::size_t k = 0; bound && k < 2; ++k) {
    const ValueSource& source = operation.sources[k];
    const bool is_compared =
        source.kind == ValueSource::Kind::kRegister && source.id == bound->compared;
    // The first is chosen where the predicate holds.
    const bool is_other = is_compared && bound->holds_if_equal == (k == 1);
    if (is_other && chosen[k].bits < chosen[k].most) {
      if (chosen[k].most == bound->bits) --chosen[k].most;
      if (chosen[k].bits == bound->bits) ++chosen[k].bits;
    }
  }
  return joined(chosen[0], chosen[1]);
}

// Whether lanes at other shuffles may take part in this one.
bool Follower::joins_others(std::uint32_t at) const {
  const Operation& operation = code_.operations[at];
  const bool is_lone = !code_.lone_shuffles.empty() && code_.lone_shuffles[at];
  return operation.exchange == Exchange::kShuffled && !operation.sources.empty() && !is_lone;
}

// A shuffle of what all threads of the warp have. The lane that gives it may be after a wait.
std::optional<Value> Follower::of_all_lanes(std::uint32_t at) const {
  const Operation& operation = code_.operations[at];
  const bool is_shuffle = operation.exchange == Exchange::kShuffled && !operation.sources.empty();
  if (!thread_.warp || thread_.tid || !is_shuffle) return std::nullopt;
  const Value value = joins_others(at) ? everything_->values_[code_.exchanged(Exchange::kShuffled)]
                                       : everything_->of(operation.sources[0]);
  return value.is_constant() ? std::optional(value) : std::nullopt;
}

// elect.sync d|p, membermask: the same thread for the same mask every time.
bool Follower::elects(const Operation& operation) const {
  if (!thread_.leads || operation.kind != Kind::kCompute || operation.instruction == nullptr ||
      operation.instruction->opcode != "elect" || operation.sources.size() != 1) {
    return false;
  }
  const Value mask = of(operation.sources[0]);
  return mask.is_constant() && static_cast<std::uint32_t>(mask.bits) == UINT32_MAX;
}

Value Follower::passed(const Operation& operation) const {
  if (operation.sources.size() != 1 || operation.width == 0) return Value::varies();
  const Value value = of(operation.sources[0]);
  const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
  const std::uint64_t bits = loaded_bits(value.bits, operation.width, is_signed);
  if (value.is_constant()) return Value::constant(bits);
  // Of a range neither end may change, nor what lies between.
  const bool stays = bits == value.bits &&
                     loaded_bits(value.most, operation.width, is_signed) == value.most &&
                     static_cast<std::int64_t>(value.most) >= 0;
  return stays ? value : Value::varies();
}

Value Follower::loaded(const Operation& operation) const {
  const bool whole = operation.address.kind == ValueSource::Kind::kParam &&
                     operation.address.id < thread_.params.size() &&
                     operation.instruction->operands[1].offset == 0 &&
                     is_inside_parameter(code_, operation.address.id, 0, operation.width);
  if (!whole || !thread_.params[operation.address.id]) return field(operation);
  const std::uint64_t bits = *thread_.params[operation.address.id];
  const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
  return Value::constant(loaded_bits(bits, operation.width, is_signed));
}

// A number in a struct.
Value Follower::field(const Operation& operation) const {
  if (!thread_.fields || operation.space != Operation::Space::kParam ||
      operation.instruction->operands.size() != 2) {
    return Value::varies();
  }
  const Value place = moved(of(operation.address), operation.instruction->operands[1].offset);
  if (place.state != Value::State::kParam || place.bits != place.most) return Value::varies();
  const auto bits =
      thread_.fields(place.root, static_cast<std::int64_t>(place.bits), operation.width);
  const std::string_view type = operation.instruction->modifiers.back();
  if (!bits || type.starts_with('f')) return Value::varies();
  return Value::constant(loaded_bits(*bits, operation.width, type.starts_with('s')));
}

}  // namespace baton::overlap
